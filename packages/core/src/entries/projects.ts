/** `@strata/core/projects`. Which project a directory is, by its settings and its repository, and what is kept of it. */
import "../base/node-version.ts"

export { keptIn, projectIn } from "../conversation/list.ts"
export { forgetLimits, LIMITS, limitsIn } from "../conversation/window.ts"
export { resolveProject } from "../journal/resolve-project.ts"

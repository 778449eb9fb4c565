/** `@strata/core/projects`. Resolves the project of a directory from its settings and repository, and lists what is stored for it. */
import "../base/node-version.ts"

export { resolveProjectAt, resolveStoreLocation } from "../conversation/list.ts"
export { forgetLimits, LIMITS, limitsIn } from "../conversation/window.ts"
export { resolveProject } from "../journal/resolve-project.ts"

/** Refuses an unsupported Node version with one clear line, before the package fails in another way. Every entry loads this module. */
const MIN_MAJOR = 24

export function nodeProblem(version: string): string | undefined {
  if (Number.parseInt(version, 10) >= MIN_MAJOR) return undefined
  return `@strata/core needs Node ${MIN_MAJOR} or newer. This is Node ${version}.`
}

const problem = nodeProblem(process.versions.node)
if (problem !== undefined) throw new Error(problem)

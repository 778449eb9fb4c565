/** Refuses a Node that lacks what we use, with one line, before anything else of the package fails with another. Every entry loads it. */
const MIN_MAJOR = 24

export function nodeProblem(version: string): string | undefined {
  if (Number.parseInt(version, 10) >= MIN_MAJOR) return undefined
  return `@strata/core needs Node ${MIN_MAJOR} or newer. This is Node ${version}.`
}

const problem = nodeProblem(process.versions.node)
if (problem !== undefined) throw new Error(problem)

#!/usr/bin/env node
/**
 * `strata`: starts the program if this version of Node can run it, otherwise names the required version. Node 12 must be able to parse this
 * file. Each part below is a self-contained file of the package, and only one of them is loaded.
 */
import { nodeProblem } from "./node-version.ts"

function partFor(args: readonly string[]) {
  if (args[0] === "compact-messages") return import("./compact-messages/start.ts")
  if (args[0] === "mcp") return import("./mcp/start.ts")
  if (args[0] === "look-worker") return import("./usage/start.ts")
  if (args.length === 0 || (args.length === 1 && /^(--help|-h|help|--version|-v)$/.test(args[0]!)))
    return import("./overview.ts")
  return import("./strata.ts")
}

const problem = nodeProblem(process.versions.node)
if (problem === undefined) {
  process.getBuiltinModule("node:module").enableCompileCache() // before anything else loads; makes later starts faster
  const args = process.argv.slice(2)
  partFor(args).then(({ start }) => start(args))
} else {
  console.error(problem)
  process.exitCode = 1
}

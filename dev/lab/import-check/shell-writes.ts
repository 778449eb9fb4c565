/**
 * Lists files that a shell command certainly wrote, by patterns of plain commands. This is much cruder than the parser of the artifacts
 * view, and shares nothing with it: a command with quotes, variables, patterns or substitutions is skipped.
 */

const NOT_PLAIN = /[`$*?{}()'"\\~[\]!<]|\bcd\b|\|\|/
const NOT_FILES = /^(?:\/dev\/|&|-)/

export function surelyWritten(command: string): readonly string[] {
  if (NOT_PLAIN.test(command)) return []
  return command.split(/&&|;|\n|\|/).flatMap(writtenByStep)
}

function writtenByStep(step: string): readonly string[] {
  const redirected = [...step.matchAll(/(?:^|\s)1?>{1,2}\s*([^\s>&]+)/g)].map(([, path]) => path!)
  const words = step
    .replace(/\s\d?>{1,2}\s*\S+/g, "")
    .trim()
    .split(/\s+/)
  const [name, ...args] = words
  const operands = args.filter((word) => !word.startsWith("-"))
  return [...redirected, ...writtenBy(name ?? "", args, operands)].filter((path) => !NOT_FILES.test(path))
}

function writtenBy(name: string, args: readonly string[], operands: readonly string[]): readonly string[] {
  if (name === "rm" || name === "touch" || name === "tee") return operands
  if (name === "sed" && args.includes("-i") && operands.length === 2) return operands.slice(1)
  if (name === "mv" && operands.length === 2 && !operands[1]!.endsWith("/")) return operands
  return []
}

/** Tells whether a shell command runs tests. The programs that it starts decide; quoted text, file names and commit messages say nothing. */
import type { Command, CompoundList, Statement, SyntaxNode } from "unbash"
import { parsed, programOf, SHELLS, unwrapped } from "./shell-effects.ts"

/** A cheap look first: only a text that has one of these is parsed. */
const MENTIONS = /test|spec|jest|mocha|phpunit|check|verify|\b(?:tox|nox|ava|pest|bats)\b|\st(?:\s|$)/i
const MOST_DEPTH = 20
const MOST_WORDS = 50 // of one command: what it runs is at its beginning

/** Options before the name of what is run, each with at most one value. */
const OPTIONS = "(?: -\\S+(?: [^-\\s]\\S*)??)*"
const RUNNERS = "vitest|jest|mocha|ava|pytest|py\\.test|unittest|tox|nox|ctest|rspec|phpunit|pest|bats|nextest"
const PACKAGES = "npm|pnpm|yarn|bun|deno"
/** A program and its first arguments, with the directory of the program left out. */
const RUNS_TESTS = new RegExp(
  `^(?:${[
    `(?:${RUNNERS})`,
    `(?:${PACKAGES})${OPTIONS}(?: (?:run|exec|x|dlx|task|workspace \\S+))*${OPTIONS} (?:t|tests?(?::\\S+)?|${RUNNERS})`,
    `python[\\d.]*${OPTIONS} -m (?:${RUNNERS})`,
    `(?:uv|poetry|pipenv|pdm|hatch|rye|bundle|mise)${OPTIONS} (?:run|exec|x|task)${OPTIONS} (?:tests?(?::\\S+)?|${RUNNERS})`,
    `(?:go|dotnet|swift|zig|flutter|dart|mix|hatch|mise|moon)${OPTIONS} test`,
    `cargo(?: \\+\\S+)?${OPTIONS} (?:test|nextest)`,
    `(?:mvn|mvnw|gradle|gradlew|sbt|bazel|nx|turbo|rake|just|task|make)${OPTIONS}(?: (?:run|clean|[\\w-]+=\\S*))*${OPTIONS} (?::?(?:[\\w-]+:)*tests?|verify|check|spec)`,
    `node${OPTIONS} --test`,
  ].join("|")})(?![\\w./:@-])`,
)

export function runsTests(command: string): boolean {
  return MENTIONS.test(command) && anyIn(parsed(command)?.commands ?? [], 0)
}

const anyIn = (statements: readonly Statement[], depth: number): boolean =>
  statements.some(({ command }) => isTestRun(command, depth))

function isTestRun(node: SyntaxNode | CompoundList, depth: number): boolean {
  if (depth > MOST_DEPTH) return false
  const any = (...nodes: readonly (SyntaxNode | CompoundList | undefined)[]) =>
    nodes.some((each) => each !== undefined && isTestRun(each, depth + 1))
  switch (node.type) {
    case "Command":
      return startsTests(node, depth)
    case "CompoundList":
      return anyIn(node.commands, depth + 1)
    case "AndOr":
    case "Pipeline":
      return any(...node.commands)
    case "Redirected":
      return any(node.command)
    case "If":
      return any(node.clause, node.then, node.else, ...node.elif.flatMap(({ clause, then }) => [clause, then]))
    case "While":
      return any(node.clause, node.body)
    case "Case":
      return any(...node.items.map(({ body }) => body))
    case "For":
    case "ArithmeticFor":
    case "Select":
    case "Subshell":
    case "BraceGroup":
    case "Coproc":
      return any(node.body)
    default:
      return false
  }
}

function startsTests(node: Command, depth: number): boolean {
  const words = [...(node.name ? [node.name] : []), ...node.args].map((arg) =>
    arg.type === "Word" ? arg.value : arg.text,
  )
  const [first, ...args] = unwrapped(words).slice(0, MOST_WORDS)
  if (first === undefined) return false
  const program = programOf(first)
  if (SHELLS.has(program)) {
    const at = args.findIndex((arg) => /^-[a-z]*c$/.test(arg))
    return at >= 0 && depth < MOST_DEPTH && anyIn(parsed(args[at + 1] ?? "")?.commands ?? [], depth + 1)
  }
  // a word with a blank was quoted: it is text
  const plain = args.map((arg) => (/\s/.test(arg) ? "-" : arg))
  return RUNS_TESTS.test([program, ...plain].join(" "))
}

/**
 * Judges a command line as parsed: every command in it by the rules for the tool, every file it reads and writes by the rules for Read and
 * Edit. What is only known when it runs cannot pass a rule that denies or asks.
 */
import { join } from "node:path"
import type { CommandFacts, FileUse, SimpleCommand } from "../../tools/command.ts"
import { Disk } from "../tools/shell/command/disk.ts"
import { trackedIn } from "../tools/shell/command/git-config.ts"
import { pathFits } from "./path-rules.ts"
import {
  allow,
  allowUnasked,
  ask,
  deny,
  isAroundOthers,
  isInside,
  isKept,
  isReadable,
  type Judgement,
  type PermissionPolicy,
  PLANNING,
  placeOf,
  type Request,
  setupAmong,
} from "./permission-policy.ts"
import { commandFits, coversWriting, parseRule, type Rule, toolFits } from "./rules.ts"

export interface CommandRequest extends Request {
  readonly facts: CommandFacts
}

/** Rarely what a rule is about, and often larger than all the rest. */
const NOT_SEARCHED = new Set(["node_modules", ".git"])

export function judgeCommand(request: CommandRequest, policy: PermissionPolicy): Judgement {
  const { tool, facts, isReadOnly } = request
  const kept = keptAmong(facts, policy)
  if (kept !== undefined) return deny(belongsToStrata(kept))
  const around = aroundKept(facts, policy) ?? namedKept(facts, policy)
  if (around !== undefined && policy.mode === "bypass") return deny(belongsToStrata(around))
  const denied = restriction(policy.deny, request, policy)
  if (denied?.match === "certain") return deny(`the rule "${denied.rule}" forbids it`)
  if (policy.mode === "plan" && !isReadOnly) return deny(PLANNING)
  if (denied) return { ...ask(`the rule "${denied.rule}" may forbid it: ${denied.why}`), onlyUser: true }
  if (policy.mode === "bypass") return allow("permissions are bypassed")
  const asked = restriction(policy.ask, request, policy)
  if (asked) return { ...ask(`the rule "${asked.rule}" asks for it`), onlyUser: true }
  if (around !== undefined) return { ...ask(belongsToStrata(around)), onlyUser: true }
  const setup = setupWritten(facts, policy)
  if (setup !== undefined) return { ...ask(setup), onlyUser: true }
  const rules = policy.allow.map(parseRule)
  const whole = rules.find((rule) => toolFits(rule.tool, tool) && rule.pattern === undefined)
  const sameLine = rules.find(({ tool: named, pattern }) => toolFits(named, tool) && pattern === facts.line.trim())
  const allowing = whole ?? sameLine
  if (allowing) return allow(`the rule "${allowing.text}" allows it`)
  const refusal = refusalOf(request, { policy, rules })
  if (refusal === undefined && isReadOnly)
    return rulesAllow(request, rules) ? allow("rules allow it") : allowUnasked("the command changes nothing")
  if (refusal === undefined) return allow("rules allow all that it does")
  if (request.needsApproval === false) return allowUnasked(`${tool} needs no approval`)
  return ask(refusal)
}

const allReads = ({ commands, redirections }: CommandFacts): readonly FileUse[] => [
  ...redirections.reads,
  ...commands.flatMap(({ uses }) => uses.reads),
]
const allWrites = ({ commands, redirections }: CommandFacts): readonly FileUse[] => [
  ...redirections.writes,
  ...commands.flatMap(({ uses }) => uses.writes),
]
/** What a command that is not understood may read or write. */
const possibleUses = ({ commands }: CommandFacts): readonly FileUse[] =>
  commands.flatMap(({ names }) => names.map((path) => ({ path })))

const belongsToStrata = (path: string): string => `${path} belongs to Strata, and no tool may write it`

/** A file of Strata's that would be written, or that is given to a program that is not known to only read. */
const keptAmong = (facts: CommandFacts, policy: PermissionPolicy): string | undefined =>
  [...allWrites(facts), ...possibleUses(facts)].find(({ path }) => path !== undefined && isKept(path, policy))?.path

/** A directory of Strata's below one that would be removed or moved. */
function aroundKept(facts: CommandFacts, { kept }: PermissionPolicy): string | undefined {
  const trees = allWrites(facts).flatMap(({ path, isTree }) => (isTree && path !== undefined ? [path] : []))
  return kept.find((directory) => trees.some((tree) => isInside(directory, tree)))
}

/** A directory of Strata's that the line names, where not all that it writes is known. */
function namedKept(facts: CommandFacts, policy: PermissionPolicy): string | undefined {
  const isKnown = (command: SimpleCommand) => command.isReadOnly || command.isWrapper || command.uses.writes.length > 0
  const areWritesKnown = allWrites(facts).every(({ path }) => path !== undefined)
  if (facts.isReadOnly || (areWritesKnown && facts.commands.every(isKnown))) return undefined
  const line = facts.line.replace(/["'\\]/g, "")
  return policy.kept.find((directory) => spellingsOf(directory, policy).some((text) => names(line, text)))
}

function spellingsOf(directory: string, policy: PermissionPolicy): readonly string[] {
  const { home } = placeOf(policy)
  if (!isInside(directory, home)) return [directory]
  const below = directory.slice(home.length)
  return [directory, ...["~", "$HOME", `\${HOME}`].map((spelling) => `${spelling}${below}`)]
}

const names = (line: string, path: string): boolean =>
  line.split(path).some((after, at) => at > 0 && !/^[\w.-]/.test(after))

/** A sentence, if it writes files that decide which programs run. */
function setupWritten(facts: CommandFacts, policy: PermissionPolicy): string | undefined {
  const writes = allWrites(facts).flatMap(({ path, isTree }) => (path === undefined ? [] : [{ path, isTree }]))
  const whole = writes.find(({ path, isTree }) => isTree && isInside(policy.project, path))
  if (whole) return `it can change everything in ${whole.path}, also files that decide which programs run`
  const paths = writes.map(({ path }) => path)
  const setup = setupAmong(paths, policy)
  return setup === undefined ? undefined : `${setup} decides which programs run`
}

interface Restriction {
  readonly rule: string
  readonly match: "certain" | "possible"
  /** What is not known. */
  readonly why: string
}

/** The rule that denies or asks. One that certainly matches comes before one that may. */
function restriction(
  rules: readonly string[],
  request: CommandRequest,
  policy: PermissionPolicy,
): Restriction | undefined {
  const found = rules.map(parseRule).flatMap((rule) => matchOf(rule, request, policy) ?? [])
  return found.find(({ match }) => match === "certain") ?? found[0]
}

function matchOf(rule: Rule, { tool, facts }: CommandRequest, policy: PermissionPolicy): Restriction | undefined {
  const certain: Restriction = { rule: rule.text, match: "certain", why: "" }
  const possible = (why: string): Restriction => ({ ...certain, match: "possible", why })
  if (toolFits(rule.tool, tool)) {
    if (rule.pattern === undefined) return certain
    const line = { words: facts.line.trim().split(/\s+/) }
    const matches = [line, ...facts.commands].map((command) => commandFits(rule.pattern!, command, { strict: true }))
    if (matches.includes("certain") || facts.line.trim() === rule.pattern) return certain
    return matches.includes("possible") ? possible("a part of it is only known when it runs") : undefined
  }
  const isReading = rule.tool === "Read"
  if (isReading && facts.isConfined) return possible("not all that it reads is known before it runs")
  if (!isReading && !coversWriting(rule, { by: "Write", strict: true })) return undefined
  const uses = isReading ? allReads(facts).filter(({ isListed }) => !isListed) : allWrites(facts)
  if (rule.pattern === undefined) return uses.length > 0 ? certain : undefined
  const fits = (path: string) => pathFits(rule.pattern!, path, { ...placeOf(policy), strict: true })
  if ([...uses, ...possibleUses(facts)].some(({ path }) => path !== undefined && fits(path))) return certain
  if (uses.some(({ path }) => path === undefined))
    return possible(`it ${isReading ? "reads" : "writes"} a file that is only known when it runs`)
  const below = uses.flatMap((use) => matchBelow(use, fits) ?? [])[0]
  return below === undefined ? undefined : possible(below)
}

/** Why something below a directory may be what the rule is about. */
function matchBelow(use: FileUse, fits: (path: string) => boolean): string | undefined {
  const { path, isTree, skipsHidden, tracked } = use
  if (path === undefined) return undefined
  const disk = new Disk()
  if (tracked) {
    const entries = trackedIn(tracked.index, disk)
    if (!entries) return "it shows files that git tracks, and they are not known"
    const paths = entries.map((entry) => join(tracked.top, entry.path))
    const shown = paths.find((at) => isInside(at, path) && fits(at))
    return shown === undefined ? undefined : `it may show ${shown}`
  }
  if (!isTree) return undefined
  const pending = [path]
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const entry of disk.list(directory) ?? []) {
      if (skipsHidden && entry.name.startsWith(".")) continue
      const at = `${directory === "/" ? "" : directory}/${entry.name}`
      if (fits(at)) return `it covers ${at}`
      if (entry.isDirectory() && !NOT_SEARCHED.has(entry.name)) pending.push(at)
    }
    if (disk.isExhausted) return `there is too much below ${path} to look at`
  }
  return undefined
}

/** A rule of the person's names each command of the line. */
const rulesAllow = ({ tool, facts }: CommandRequest, rules: readonly Rule[]): boolean =>
  facts.isExact && ruledCommands(facts).every((command) => isAllowedBy(rules, tool, command))

/** Those that a rule must cover. */
const ruledCommands = ({ commands }: CommandFacts): readonly SimpleCommand[] =>
  commands.filter(({ isGuess, isWrapper }) => !isGuess && !isWrapper)

const isAllowedBy = (rules: readonly Rule[], tool: string, command: SimpleCommand): boolean =>
  !command.changesEnvironment &&
  rules.some(
    (rule) =>
      toolFits(rule.tool, tool) &&
      rule.pattern !== undefined &&
      !isWholeLine(rule.pattern) &&
      commandFits(rule.pattern, command, { strict: false }) === "certain",
  )

/** Several commands, or what only the shell knows: it allows the same line, and no single command with such words. */
const isWholeLine = (pattern: string): boolean => !pattern.includes("*") && /[;&|<>`$\n]/.test(pattern)

interface Allowance {
  readonly policy: PermissionPolicy
  readonly rules: readonly Rule[]
}

/**
 * Why a person must decide. `undefined`: each command is allowed or changes nothing, and so is each redirection. A rule for a command counts
 * only in a line that was read exactly: in any other, more may run than the parser found.
 */
function refusalOf(request: CommandRequest, { policy, rules }: Allowance): string | undefined {
  const { tool, facts, isReadOnly } = request
  const place = { ...placeOf(policy), strict: false }
  const mayRead = ({ path, isTree }: FileUse) => {
    if (path === undefined) return facts.isConfined
    if (isReadable(path, policy) && !(isTree && isAroundOthers(path, policy))) return true
    return rules.some((rule) => rule.tool === "Read" && (!rule.pattern || pathFits(rule.pattern, path, place)))
  }
  const mayWrite = ({ path }: FileUse) =>
    path !== undefined &&
    ((policy.mode === "accept-edits" && isInside(path, policy.project)) ||
      rules.some(
        (rule) =>
          (rule.tool === "Edit" || rule.tool === "Write") &&
          (rule.pattern === undefined || pathFits(rule.pattern, path, place)),
      ))
  const isAllowed = (command: SimpleCommand) => facts.isExact && isAllowedBy(rules, tool, command)
  const judged = ruledCommands(facts)
  const outside = [
    ...facts.redirections.reads,
    ...judged.filter((command) => !isAllowed(command)).flatMap(({ uses }) => uses.reads),
  ].find((use) => !mayRead(use))
  const readsOutside = outside && `it reads outside the project${outside.path === undefined ? "" : `: ${outside.path}`}`
  if (isReadOnly) return readsOutside
  const asked = judged.find((command) => !isAllowed(command) && !command.isReadOnly)
  if (asked) return changeOf(asked) ?? asSentencePart(facts.unknown[0]) ?? `${tool} needs permission`
  if (!facts.isExact) return asSentencePart(facts.unknown[0]) ?? "not all of it is known before it runs"
  if (outside) return readsOutside
  const written = facts.redirections.writes.find((use) => !mayWrite(use))
  if (written) return `it writes ${written.path ?? ONLY_KNOWN_LATER}`
  const isCovered = judged.some(isAllowed) || facts.redirections.writes.length > 0
  return isCovered ? undefined : (asSentencePart(facts.unknown[0]) ?? `${tool} needs permission`)
}

/** What it does to files. `undefined`: it writes none, or is not understood. */
function changeOf({ words: [program], uses }: SimpleCommand): string | undefined {
  const [first, ...more] = uses.writes
  if (program === undefined || first === undefined) return undefined
  const others = first.path === undefined || more.length === 0 ? "" : ` and ${more.length} more`
  return `${program} ${VERBS.get(program) ?? "changes"} ${first.path ?? ONLY_KNOWN_LATER}${others}`
}

const VERBS: ReadonlyMap<string, string> = new Map([
  ["mkdir", "creates"],
  ["rm", "removes"],
  ["rmdir", "removes"],
  ["unlink", "removes"],
])
const ONLY_KNOWN_LATER = "files that are only known when it runs"

/** "It uses a value …." goes on after a colon or before ", and there is no one to ask". */
const asSentencePart = (sentence: string | undefined): string | undefined =>
  sentence?.replace(/\.$/, "").replace(/^(?:It|The|Without)\b/, (word) => word.toLowerCase())

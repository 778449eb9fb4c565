/**
 * Judges a parsed command line: all its commands by the rules for the tool, and all files it reads and writes by the rules for Read and
 * Edit. Anything unknown before it runs cannot pass a rule that denies or asks.
 */
import { join } from "node:path"
import type { CommandLineFacts, FileUse, SimpleCommand } from "../../tools/command.ts"
import { Disk } from "../tools/shell/command/disk.ts"
import { trackedIn } from "../tools/shell/command/git-config.ts"
import { pathFits } from "./path-rules.ts"
import {
  allow,
  allowUnapproved,
  ask,
  deny,
  isAroundOthers,
  isInside,
  isProtected,
  isReadable,
  type Judgement,
  type JudgementRequest,
  type PermissionPolicy,
  PLANNING,
  pathRoots,
  setupAmong,
} from "./permission-policy.ts"
import { commandFits, coversWriting, type PermissionRule, parseRule, toolFits } from "./rules.ts"

export interface CommandRequest extends JudgementRequest {
  readonly facts: CommandLineFacts
}

/** Directories that are not searched for rule matches: rarely relevant, and often larger than everything else. */
const NOT_SEARCHED = new Set(["node_modules", ".git"])

export function judgeCommand(request: CommandRequest, policy: PermissionPolicy): Judgement {
  const { tool, facts, isReadOnly } = request
  const kept = protectedAmong(facts, policy)
  if (kept !== undefined) return deny(belongsToStrata(kept))
  const around = protectedBelow(facts, policy) ?? namedProtected(facts, policy)
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
    return rulesAllow(request, rules) ? allow("rules allow it") : allowUnapproved("the command changes nothing")
  if (refusal === undefined) return allow("rules allow all that it does")
  if (request.needsApproval === false) return allowUnapproved(`${tool} needs no approval`)
  return ask(refusal)
}

const allReads = ({ commands, redirections }: CommandLineFacts): readonly FileUse[] => [
  ...redirections.reads,
  ...commands.flatMap(({ uses }) => uses.reads),
]
const allWrites = ({ commands, redirections }: CommandLineFacts): readonly FileUse[] => [
  ...redirections.writes,
  ...commands.flatMap(({ uses }) => uses.writes),
]
/** Possible uses of commands that are not understood. */
const possibleUses = ({ commands }: CommandLineFacts): readonly FileUse[] =>
  commands.flatMap(({ names }) => names.map((path) => ({ path })))

const belongsToStrata = (path: string): string => `${path} belongs to Strata, and no tool may write it`

/** A file of Strata that would be written, or is passed to a program that may do more than read. */
const protectedAmong = (facts: CommandLineFacts, policy: PermissionPolicy): string | undefined =>
  [...allWrites(facts), ...possibleUses(facts)].find(({ path }) => path !== undefined && isProtected(path, policy))
    ?.path

/** A directory of Strata below a directory that would be removed or moved. */
function protectedBelow(facts: CommandLineFacts, { protectedDirectories }: PermissionPolicy): string | undefined {
  const trees = allWrites(facts).flatMap(({ path, isTree }) => (isTree && path !== undefined ? [path] : []))
  return protectedDirectories.find((directory) => trees.some((tree) => isInside(directory, tree)))
}

/** A directory of Strata that the line mentions, if not all of its writes are known. */
function namedProtected(facts: CommandLineFacts, policy: PermissionPolicy): string | undefined {
  const isKnown = (command: SimpleCommand) => command.isReadOnly || command.isWrapper || command.uses.writes.length > 0
  const areWritesKnown = allWrites(facts).every(({ path }) => path !== undefined)
  if (facts.isReadOnly || (areWritesKnown && facts.commands.every(isKnown))) return undefined
  const line = facts.line.replace(/["'\\]/g, "")
  return policy.protectedDirectories.find((directory) =>
    spellingsOf(directory, policy).some((text) => names(line, text)),
  )
}

function spellingsOf(directory: string, policy: PermissionPolicy): readonly string[] {
  const { home } = pathRoots(policy)
  if (!isInside(directory, home)) return [directory]
  const below = directory.slice(home.length)
  return [directory, ...["~", "$HOME", `\${HOME}`].map((spelling) => `${spelling}${below}`)]
}

const names = (line: string, path: string): boolean =>
  line.split(path).some((after, at) => at > 0 && !/^[\w.-]/.test(after))

/** A sentence if the line writes files that decide which programs run. */
function setupWritten(facts: CommandLineFacts, policy: PermissionPolicy): string | undefined {
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
  /** The uncertain part. */
  readonly why: string
}

/** The first rule that denies or asks. A certain match takes precedence over a possible one. */
function restriction(
  rules: readonly string[],
  request: CommandRequest,
  policy: PermissionPolicy,
): Restriction | undefined {
  const found = rules.map(parseRule).flatMap((rule) => matchOf(rule, request, policy) ?? [])
  return found.find(({ match }) => match === "certain") ?? found[0]
}

function matchOf(
  rule: PermissionRule,
  { tool, facts }: CommandRequest,
  policy: PermissionPolicy,
): Restriction | undefined {
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
  const fits = (path: string) => pathFits(rule.pattern!, path, { ...pathRoots(policy), strict: true })
  if ([...uses, ...possibleUses(facts)].some(({ path }) => path !== undefined && fits(path))) return certain
  if (uses.some(({ path }) => path === undefined))
    return possible(`it ${isReading ? "reads" : "writes"} a file that is only known when it runs`)
  const below = uses.flatMap((use) => matchBelow(use, fits) ?? [])[0]
  return below === undefined ? undefined : possible(below)
}

/** Reason why content below a directory may match the rule. */
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

/** Whether rules of the user allow each command of the line. */
const rulesAllow = ({ tool, facts }: CommandRequest, rules: readonly PermissionRule[]): boolean =>
  facts.isExact && ruledCommands(facts).every((command) => isAllowedBy(rules, tool, command))

/** Commands that a rule must cover. */
const ruledCommands = ({ commands }: CommandLineFacts): readonly SimpleCommand[] =>
  commands.filter(({ isGuess, isWrapper }) => !isGuess && !isWrapper)

const isAllowedBy = (rules: readonly PermissionRule[], tool: string, command: SimpleCommand): boolean =>
  !command.changesEnvironment &&
  rules.some(
    (rule) =>
      toolFits(rule.tool, tool) &&
      rule.pattern !== undefined &&
      !isWholeLine(rule.pattern) &&
      commandFits(rule.pattern, command, { strict: false }) === "certain",
  )

/** Whether a pattern contains several commands or shell syntax: it then allows only the identical line. */
const isWholeLine = (pattern: string): boolean => !pattern.includes("*") && /[;&|<>`$\n]/.test(pattern)

interface Allowance {
  readonly policy: PermissionPolicy
  readonly rules: readonly PermissionRule[]
}

/**
 * Reason why the user must decide. `undefined` if each command and redirection is allowed or changes nothing. A rule for a command applies
 * only in a line that was parsed exactly: in any other, more may run than the parser found.
 */
function refusalOf(request: CommandRequest, { policy, rules }: Allowance): string | undefined {
  const { tool, facts, isReadOnly } = request
  const place = { ...pathRoots(policy), strict: false }
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

/** Describes the file changes of a command. `undefined` if it writes none or is not understood. */
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

/** Converts a sentence to part of one: "It uses a value …." follows a colon or precedes ", and there is no one to ask". */
const asSentencePart = (sentence: string | undefined): string | undefined =>
  sentence?.replace(/\.$/, "").replace(/^(?:It|The|Without)\b/, (word) => word.toLowerCase())

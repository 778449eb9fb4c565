/** Judges one command with its words: what it is, what it reads and writes, and what it starts. */
import { posix } from "node:path"
import { lookBelow } from "./below.ts"
import type { SimpleCommand } from "./facts.ts"
import type { Field } from "./fields.ts"
import { git } from "./git.ts"
import { type Judge, type Place, type PrintedPaths, resolveIn } from "./judged.ts"
import { type OptionTable, takeApart } from "./options.ts"
import { PLAIN_READERS } from "./plain-readers.ts"
import { find, SPECIAL_READERS } from "./special-readers.ts"
import { isHarmlessAssignment, isHarmlessPrefix } from "./variables.ts"
import { isRunner, isShell, unwrap } from "./wrappers.ts"
import { WRITERS } from "./writers.ts"

export interface Invocation {
  readonly fields: readonly Field[]
  readonly place: Place
  readonly changesEnvironment: boolean
  /** A here-document or here-string is its input. */
  readonly input: { readonly text: string | undefined } | undefined
  /** A file is its input. */
  readonly isFed: boolean
  readonly isPiped: boolean
  /** A function of this name is defined in the line. */
  readonly isFunction: boolean
}

export interface InvocationOutcome {
  readonly commands: readonly SimpleCommand[]
  /** What is not known, as sentences. */
  readonly unknown: readonly string[]
  /** Scripts that it runs. `undefined`: not known. */
  readonly scripts: readonly (string | undefined)[]
  /** Commands that it starts. */
  readonly inner: readonly InnerCommand[]
  /** Variables that it sets. */
  readonly sets: readonly string[]
  /** Where the shell is afterwards. */
  readonly directory?: { readonly path: string | undefined; readonly isLinked: boolean }
  readonly makesLinks: boolean
  readonly prints?: PrintedPaths | undefined
}

interface InnerCommand {
  readonly fields: readonly Field[]
  readonly changesEnvironment: boolean
  readonly directory?: { readonly path: string | undefined }
  /** `command cd x` moves the shell itself. */
  readonly isSameShell?: boolean
}

const READERS: Readonly<Record<string, Judge>> = { ...PLAIN_READERS, ...SPECIAL_READERS, git }
/** A program called by its path is the known one only here. */
const SYSTEM_DIRECTORIES = new Set(["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"])
const SAME_SHELL = new Set(["command", "builtin"])
const MOST_GUESSES = 8
const MOST_NAMES = 400

const nothing: InvocationOutcome = { commands: [], unknown: [], scripts: [], inner: [], sets: [], makesLinks: false }
const NOWHERE = { path: undefined, isLinked: false }

export function judgeInvocation(invocation: Invocation): InvocationOutcome {
  const { fields, isFunction } = invocation
  const name = fields[0]?.text
  if (name === undefined || name === "") {
    return {
      ...nothing,
      commands: [plain(invocation, false)],
      unknown: ["The program is only known when it runs."],
      directory: NOWHERE,
    }
  }
  const program = programOf(name)
  const args = fields.slice(1)
  const outcome = isFunction
    ? { ...nothing, commands: [plain(invocation, true)], directory: NOWHERE }
    : (builtin(program, args, invocation) ??
      wrapped(program, args, invocation) ??
      byTable({ program, args, invocation, isTrusted: isTrusted(name) }))
  if (!isFunction && !isTrusted(name)) return notReadOnly(outcome)
  const mayShow = program !== "test" && program !== "[" && args.some(isSecret)
  return mayShow ? notReadOnly(outcome, `${program} may show a variable of the environment.`) : outcome
}

/** A value of the environment. Programs print what they are given, be it in an error message. */
const isSecret = ({ text, isPrintable, below }: Field): boolean => text === undefined && !isPrintable && !below

/** The command itself counts as one that may do anything. What it starts is still looked at. */
function notReadOnly(outcome: InvocationOutcome, why?: string): InvocationOutcome {
  return {
    ...outcome,
    commands: outcome.commands.map((command) => (command.isGuess ? command : { ...command, isReadOnly: false })),
    unknown: [...outcome.unknown, ...(why === undefined ? [] : [why])],
  }
}

const programOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1)
const isTrusted = (name: string): boolean => !name.includes("/") || SYSTEM_DIRECTORIES.has(posix.dirname(name))

function plain({ fields, changesEnvironment }: Invocation, isReadOnly: boolean): SimpleCommand {
  return {
    words: fields.map(({ text }) => text),
    isReadOnly: isReadOnly && !changesEnvironment,
    uses: { reads: [], writes: [] },
    names: [],
    changesEnvironment,
  }
}

interface ByTable {
  readonly program: string
  readonly args: readonly Field[]
  readonly invocation: Invocation
  readonly isTrusted: boolean
}

function byTable({ program, args, invocation, isTrusted: isKnown }: ByTable): InvocationOutcome {
  const { place, changesEnvironment } = invocation
  const table = Object.hasOwn(WRITERS, program) ? WRITERS : isKnown ? READERS : {}
  const judge = Object.hasOwn(table, program) ? table[program] : undefined
  const judged = judge?.(args, place)
  const guesses = isRunner(program) ? guessesAt(invocation) : []
  if (judged?.state !== "understood") {
    const open =
      judge && args.some(({ text, isPrintable }) => text === undefined && !isPrintable) ? [{ path: undefined }] : []
    const uses = { reads: open, writes: table === WRITERS ? open : [] }
    const command = { ...plain(invocation, false), uses, names: namesIn(args, place) }
    return { ...nothing, commands: [command, ...guesses], unknown: judged ? [`${program}: ${judged.why}.`] : [] }
  }
  const isOpen = [...judged.reads, ...judged.writes].some(({ path }) => path === undefined)
  const command: SimpleCommand = {
    ...plain(invocation, judged.isReadOnly && !isOpen),
    uses: { reads: judged.reads, writes: judged.writes },
  }
  const unknown = [
    ...(isOpen ? [`${program}: a file that is only known when it runs.`] : []),
    ...(changesEnvironment && judged.isReadOnly
      ? [`${program} starts with variables that may change what it does.`]
      : []),
  ]
  const runs = program === "find" ? find(args, place).runs : []
  const inner = runs.map(({ words, isElsewhere }) => ({
    fields: words,
    changesEnvironment: false,
    ...(isElsewhere ? { directory: NOWHERE } : {}),
  }))
  return {
    ...nothing,
    commands: [command, ...guesses],
    unknown,
    inner,
    prints: judged.prints,
    makesLinks: program === "ln",
  }
}

/** Every word that may be the start of a command. */
function guessesAt(invocation: Invocation): readonly SimpleCommand[] {
  const { fields } = invocation
  const starts = fields.flatMap(({ text }, at) => (at > 0 && text !== undefined && !text.startsWith("-") ? [at] : []))
  return starts
    .slice(0, MOST_GUESSES)
    .map((at) => ({ ...plain({ ...invocation, fields: fields.slice(at) }, true), isGuess: true }))
}

/** What a command that is not understood may do with files: every word, and the part of it after a sign, may be a path. */
export function namesIn(args: readonly Field[], place: Place): readonly string[] {
  const found = new Set<string>()
  for (const { text } of args) {
    if (text === undefined || text.length > 4_096 || found.size > MOST_NAMES) continue
    const parts = [text, ...text.split(/[=:,@]/), text.replace(/^-+\w?/, "")]
    for (const part of parts) {
      if (part === "" || part.startsWith("-")) continue
      const path = resolveIn(part.startsWith("~/") && place.home ? `${place.home}${part.slice(1)}` : part, place)
      if (path !== undefined) found.add(path)
    }
  }
  return [...found]
}

/** Builtins that change the shell itself. */
function builtin(program: string, args: readonly Field[], invocation: Invocation): InvocationOutcome | undefined {
  const words = args.map(({ text }) => text)
  switch (program) {
    case "cd":
      return cd(args, invocation)
    case "pushd":
    case "popd":
      return {
        ...nothing,
        commands: [plain(invocation, false)],
        unknown: [`${program} moves to another directory.`],
        directory: NOWHERE,
      }
    case "source":
    case ".":
      return {
        ...nothing,
        commands: [{ ...plain(invocation, false), names: namesIn(args, invocation.place) }],
        directory: NOWHERE,
      }
    case "read":
      return read(READ, args, invocation)
    case "mapfile":
    case "readarray":
      return read(MAPFILE, args, invocation)
    case "trap":
      return { ...nothing, commands: [plain(invocation, false)], scripts: words.length > 1 ? [words[0]] : [] }
    case "alias":
    case "enable":
    case "shopt":
    case "hash":
      if (words.length === 0) return undefined
      return {
        ...nothing,
        commands: [plain(invocation, false), { ...plain(invocation, false), words: [undefined] }],
        unknown: [`${program} changes what the names of programs mean.`],
      }
    default:
      return undefined
  }
}

/** `cd` in the project reads nothing but the directory. */
function cd(args: readonly Field[], invocation: Invocation): InvocationOutcome {
  const { place } = invocation
  const operands = args.filter(({ text }) => !/^-[LPe@]+$|^--$/.test(text ?? ""))
  const text = operands.length === 0 ? place.home : operands[0]!.text
  const isSearched = place.env.CDPATH && text !== undefined && !/^\.{0,2}(?:\/|$)/.test(text)
  const leavesLink = place.isLinked && text?.split("/").includes("..")
  if (text === undefined || text === "-" || operands.length > 1 || isSearched || leavesLink) {
    return {
      ...nothing,
      commands: [plain(invocation, false)],
      unknown: ["It moves to a directory that is only known when it runs."],
      directory: NOWHERE,
    }
  }
  const path = text === "" ? place.directory : resolveIn(text, place)
  const straight = path === undefined ? undefined : posix.resolve(place.directory ?? "/", text)
  const isThere = path !== undefined && (place.disk?.kindOf(path) ?? "directory") === "directory"
  const isLinked = path !== straight
  const mayGoElsewhere = isLinked && text.split("/").includes("..")
  const command = { ...plain(invocation, path !== undefined), uses: { reads: [{ path }], writes: [] } }
  const unknown = path === undefined ? ["It moves to a directory that is only known when it runs."] : []
  const directory = isThere && !mayGoElsewhere ? { path, isLinked: isLinked || (place.isLinked ?? false) } : NOWHERE
  return { ...nothing, commands: [command], unknown, directory }
}

const READ = { short: "ers a: d: i: n: N: p: t: u:" }
/** Not `-C`: it names a command to run. */
const MAPFILE = { short: "t d: n: O: s: u:" }

function read(table: OptionTable, args: readonly Field[], invocation: Invocation): InvocationOutcome {
  const taken = takeApart(table, args)
  const names =
    taken.state === "understood"
      ? [
          ...taken.operands.map(({ text }) => text),
          ...taken.options.flatMap(({ name, value }) => (name === "a" ? [value?.text] : [])),
        ]
      : [undefined]
  const isHarmless = names.every(
    (name) =>
      name !== undefined &&
      /^[A-Za-z_]\w*$/.test(name) &&
      isHarmlessAssignment({ name, value: undefined }, invocation.place.env),
  )
  return {
    ...nothing,
    commands: [plain(invocation, isHarmless)],
    unknown: isHarmless ? [] : ["It sets a variable that is not understood."],
    sets: names.flatMap((name) => name ?? []),
  }
}

function wrapped(program: string, args: readonly Field[], invocation: Invocation): InvocationOutcome | undefined {
  const { input, isPiped, isFed, place } = invocation
  if (program === "env") return env(args, invocation)
  const found = unwrap(program, args)
  const own = (isReadOnly: boolean) => ({
    ...plain(invocation, isReadOnly),
    names: isReadOnly ? [] : namesIn(args, place),
  })
  switch (found.state) {
    case "none":
      if (program === "command" || program === "builtin")
        return {
          ...nothing,
          commands: [
            plain(
              invocation,
              args.every(({ text }) => text !== undefined),
            ),
          ],
        }
      return undefined
    case "not understood":
      return {
        ...nothing,
        commands: [own(false), ...guessesAt(invocation)],
        unknown: [`${program}: its options are not understood.`],
      }
    case "script":
      return {
        ...nothing,
        commands: [own(true)],
        scripts: [found.script],
        ...(isShell(program) ? {} : { directory: NOWHERE }),
      }
    case "input":
      return { ...nothing, commands: [own(false)], scripts: input ? [input.text] : isPiped || isFed ? [undefined] : [] }
    case "command": {
      const fields = found.isOpen ? opened(found.words, found.options, invocation) : found.words
      return {
        ...nothing,
        commands: [own(found.isTransparent)],
        inner: [{ fields, changesEnvironment: false, isSameShell: SAME_SHELL.has(program) }],
      }
    }
  }
}

/** The words that `xargs` adds: paths below known places if the pipe brings only those, and no name there could be taken for more. */
function opened(
  words: readonly Field[],
  options: readonly { name: string; value?: Field }[],
  { place }: Invocation,
): readonly Field[] {
  const { piped, disk } = place
  const splitsAt = options.some(({ name }) => name === "0" || name === "null") ? "null" : "newline"
  const isSplitAsPrinted = piped?.separator === splitsAt && !options.some(({ name }) => /^d(?:elimiter)?$/.test(name))
  const isPlain =
    isSplitAsPrinted &&
    piped.below.every((path) => {
      const below = disk && lookBelow(path, disk)
      return below && below.oddName === undefined
    })
  const added: Field = isPlain ? { text: undefined, below: piped.below } : { text: undefined, isPrintable: true }
  const replaced = options.find(({ name }) => ["I", "i", "replace"].includes(name))
  if (!replaced) return [...words, added]
  const mark = replaced.value?.text ?? "{}"
  return words.map((word) =>
    word.text === mark ? added : word.text?.includes(mark) ? { text: undefined, isPrintable: true } : word,
  )
}

function env(args: readonly Field[], invocation: Invocation): InvocationOutcome {
  const taken = takeApart(
    { short: "i0v u: C: S:", long: "ignore-environment null unset: chdir: split-string: debug", stops: true },
    args,
  )
  if (taken.state === "not understood")
    return {
      ...nothing,
      commands: [plain(invocation, false), ...guessesAt(invocation)],
      unknown: ["env: its options are not understood."],
    }
  const { options, operands } = taken
  const split = options.find(({ name }) => name === "S" || name === "split-string")?.value
  const at = operands.findIndex(({ text }) => text === undefined || !/^[A-Za-z_]\w*=/.test(text))
  const assigned = operands.slice(0, at < 0 ? operands.length : at).map(({ text }) => {
    const [name = "", ...value] = text!.split("=")
    return { name, value: value.join("=") }
  })
  const fields = at < 0 ? [] : operands.slice(at)
  if (split) {
    const texts = [split, ...operands].map(({ text }) => text)
    const script = texts.every((text) => text !== undefined) ? texts.join(" ") : undefined
    return { ...nothing, commands: [plain(invocation, false)], scripts: [script] }
  }
  if (fields.length === 0)
    return { ...nothing, commands: [plain(invocation, false)], unknown: ["env shows the environment."] }
  const target = options.find(({ name }) => name === "C" || name === "chdir")?.value
  const directory = target
    ? { directory: { path: target.text === undefined ? undefined : resolveIn(target.text, invocation.place) } }
    : {}
  const changesEnvironment =
    !assigned.every(isHarmlessPrefix) ||
    options.some(({ name }) => ["u", "i", "unset", "ignore-environment"].includes(name))
  return { ...nothing, commands: [plain(invocation, true)], inner: [{ fields, changesEnvironment, ...directory }] }
}

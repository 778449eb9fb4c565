/** Analyzes one command with its arguments: its program, the files it reads and writes, and the commands it starts. */
import { posix } from "node:path"
import type { SimpleCommand } from "../../../../tools/command.ts"
import { type AnalysisContext, type CommandAnalyzer, RUNS_ANYTHING, resolveIn } from "./command-effects.ts"
import { type ExpandedWord, HIDDEN_COMMAND, simpleCommand } from "./expanded-word.ts"
import { git } from "./git.ts"
import { PLAIN_READERS } from "./plain-readers.ts"
import { SPECIAL_READERS } from "./special-readers.ts"
import { isRunner, unwrap } from "./wrapped-commands.ts"
import { WRITERS } from "./writers.ts"

export interface WordEffects {
  /** The command and the commands that it starts. */
  readonly commands: readonly SimpleCommand[]
  /** Unknown effects, as sentences for the user. */
  readonly unknown: readonly string[]
  /** Scripts in its arguments: `bash -c` and `eval`. */
  readonly scripts: readonly ScriptInWord[]
}

export interface ScriptInWord {
  /** Text of the script. `undefined`: not known before it runs. */
  readonly text: string | undefined
  readonly isOtherShell: boolean
}

const READERS: Readonly<Record<string, CommandAnalyzer>> = { ...PLAIN_READERS, ...SPECIAL_READERS, git, cd: analyzeCd }
/**
 * Programs that may run without a sandbox: those in everyday use whose arguments mean the same on all systems. For any other program, an
 * option with a different meaning could write a file or read one elsewhere, which only a sandbox prevents.
 */
const WITHOUT_SANDBOX = new Set(
  `[ : basename cat cd cmp command cut date diff dirname du echo egrep false fgrep find git grep head id ls nl printf ps pwd readlink realpath
  rg sed seq sha256sum sort stat tail test tr true type uname uniq wc which whoami
  bash cargo clang cmake docker g++ gcc go make node perl pip pip3 python python3 ruby rustc uv`.split(/\s+/),
)
const MAX_DEPTH = 10
const MAX_GUESSES = 8
const MAX_NAMES = 400
const MAX_NAME_CHARACTERS = 4_096 // maximum path length on Linux

export function analyzeWords(fields: readonly ExpandedWord[], place: AnalysisContext, depth = 0): WordEffects {
  const name = fields[0]?.text
  if (name === undefined || name === "" || depth > MAX_DEPTH)
    return { commands: [HIDDEN_COMMAND], unknown: ["The program is only known when it runs."], scripts: [] }
  const program = name.slice(name.lastIndexOf("/") + 1)
  const args = fields.slice(1)
  const other = otherProgram(name, args, place)
  const judged =
    analyzeWrapper(program, args, { fields, place, depth }) ?? analyzeByTable(program, args, { fields, place, depth })
  if (other === undefined) return judged
  const [own, ...rest] = judged.commands
  return { ...judged, commands: [{ ...own!, isReadOnly: false, isWrapper: false }, ...rest], unknown: [other] }
}

interface AnalysisInput {
  readonly fields: readonly ExpandedWord[]
  readonly place: AnalysisContext
  readonly depth: number
}

/** Analyzes a program that starts another one: `timeout`, `xargs`, a shell with a script. */
function analyzeWrapper(
  program: string,
  args: readonly ExpandedWord[],
  { fields, place, depth }: AnalysisInput,
): WordEffects | undefined {
  const found = unwrap(program, args)
  const own = (isReadOnly: boolean): SimpleCommand => ({
    ...simpleCommand(fields.map(({ text }) => text)),
    isReadOnly: isReadOnly && place.hasSandbox,
    ...(isReadOnly ? { isWrapper: true } : { names: namesIn(args, place) }),
  })
  switch (found.state) {
    case "none":
      return undefined
    case "not understood": {
      const unknown = [`${program} starts another program in a way that is not understood.`]
      return { commands: [own(false), ...guessesAt(fields)], unknown, scripts: [] }
    }
    case "script":
      return {
        commands: [own(found.isTransparent)],
        unknown: [],
        scripts: [{ text: found.script, isOtherShell: found.isOtherShell ?? false }],
      }
    case "command": {
      const inner = analyzeWords(found.words, place, depth + 1)
      const unknown = place.hasSandbox ? [] : [`${program} starts ${found.words[0]?.text ?? "another program"}.`]
      return {
        ...inner,
        commands: [own(found.isTransparent), ...inner.commands],
        unknown: [...inner.unknown, ...unknown],
      }
    }
  }
}

function analyzeByTable(
  program: string,
  args: readonly ExpandedWord[],
  { fields, place, depth }: AnalysisInput,
): WordEffects {
  const table = Object.hasOwn(WRITERS, program) ? WRITERS : READERS
  const judge = Object.hasOwn(table, program) ? table[program] : undefined
  const judged = judge?.(args, place)
  const guesses = isRunner(program) ? guessesAt(fields) : []
  const command = simpleCommand(fields.map(({ text }) => text))
  if (judged?.state !== "understood") {
    const isOpen = judge !== undefined && args.some(({ text }) => text === undefined)
    const uses = {
      reads: isOpen ? [{ path: undefined }] : [],
      writes: isOpen && table === WRITERS ? [{ path: undefined }] : [],
    }
    const why = judged?.why ?? (isRunner(program) ? RUNS_ANYTHING : DOES_MORE)
    return {
      commands: [{ ...command, uses, names: namesIn(args, place) }, ...guesses],
      unknown: [`${program} ${why}.`],
      scripts: [],
    }
  }
  const { reads, writes, starts = [] } = judged
  const isKnown = place.hasSandbox || [...reads, ...writes].every(({ path }) => path !== undefined)
  const isListed = place.hasSandbox || WITHOUT_SANDBOX.has(program)
  const own = { ...command, isReadOnly: judged.isReadOnly && isKnown && isListed, uses: { reads, writes } }
  const inner = starts.map((words) => analyzeWords(words, place, depth + 1))
  return {
    commands: [own, ...guesses, ...inner.flatMap(({ commands }) => commands)],
    unknown: [
      ...(judged.isReadOnly && !isListed ? [`Without a sandbox, Strata asks about ${program}.`] : []),
      ...(judged.isReadOnly && !isKnown
        ? [`${program} ${program === "cd" ? "goes to a directory" : "reads a file"} that is only known when it runs.`]
        : []),
      ...(judged.isReadOnly || writes.length > 0
        ? []
        : [`${program} ${starts.length > 0 ? "starts other programs" : DOES_MORE}.`]),
      ...inner.flatMap(({ unknown }) => unknown),
    ],
    scripts: inner.flatMap(({ scripts }) => scripts),
  }
}

const DOES_MORE = "can do more than read files"

/** Analyzes `cd`, which only reads the directory. The caller tracks the new working directory. */
function analyzeCd(args: readonly ExpandedWord[], place: AnalysisContext) {
  const [target, ...more] = args.filter(({ text }) => !/^-[LP]+$|^--$/.test(text ?? ""))
  const text = target ? target.text : place.home
  const path = text === undefined || text === "-" || more.length > 0 ? undefined : resolveIn(text || ".", place)
  return { state: "understood", isReadOnly: true, reads: [{ path }], writes: [] } as const
}

/** Possible commands among the arguments, for rules that deny or ask. */
function guessesAt(fields: readonly ExpandedWord[]): readonly SimpleCommand[] {
  const starts = fields.flatMap(({ text }, at) => (at > 0 && text !== undefined && !text.startsWith("-") ? [at] : []))
  return starts
    .slice(0, MAX_GUESSES)
    .map((at) => ({ ...simpleCommand(fields.slice(at).map(({ text }) => text)), isReadOnly: true, isGuess: true }))
}

/** Possible paths among the arguments of a command that is not understood: each argument, and its parts after separators. */
export function namesIn(args: readonly ExpandedWord[], place: AnalysisContext): readonly string[] {
  const found = new Set<string>()
  for (const { text } of args) {
    if (text === undefined || text.length > MAX_NAME_CHARACTERS || found.size > MAX_NAMES) continue
    const parts = [text, ...text.split(/[=:,@]/), text.replace(/^-+\w?/, "")]
    for (const part of parts) {
      if (part === "" || part.startsWith("-")) continue
      const path = resolveIn(part.startsWith("~/") && place.home ? `${place.home}${part.slice(1)}` : part, place)
      if (path !== undefined) found.add(path)
    }
  }
  return [...found]
}

/** Directories in which a program called by its path is a known one, in addition to trusted directories of PATH. */
const SYSTEM_DIRECTORIES = new Set(["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"])

/** Builtins of bash, which are not searched in PATH. */
const BUILTINS = new Set(
  `. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit
  export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set
  shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait`.split(/\s+/),
)
/** Paths of version manager shims, which let the project choose the version: asdf, mise, pyenv, volta. */
const SHIM = /\/shims\/|\/\.?(?:volta|proto)\/|\/(?:mise|asdf|rtx|aqua|aqua-proxy|proto|volta-shim|vfox|pkgx|devbox)$/

/** Commands that locate the programs named in their arguments. */
const LOOKUPS = new Set(["which", "type", "command"])

/** A sentence if the name resolves to a file that is not the known program. */
function otherProgram(
  name: string,
  args: readonly ExpandedWord[],
  { programs, directory }: AnalysisContext,
): string | undefined {
  if (name.includes("/")) {
    const path = posix.dirname(name)
    const isKnown = SYSTEM_DIRECTORIES.has(path) || (programs?.directories.includes(path) ?? false)
    if (!isKnown) return `${name} is a program that Strata does not know.`
  }
  if (!programs) return undefined
  const named = LOOKUPS.has(name) ? args.flatMap(({ text }) => (text?.includes("/") ? [] : (text ?? []))) : []
  const searched = BUILTINS.has(name) ? named : [name, ...named]
  for (const program of searched) {
    const found = programs.resolve(program, directory)
    if (found.state === "not trusted") return `${program} would be ${found.file}: ${found.why}.`
    if (found.state === "trusted" && SHIM.test(found.file))
      return `${program} is ${found.file}, which lets the project say what runs.`
  }
  return undefined
}

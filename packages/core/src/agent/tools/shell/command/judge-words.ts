/** Judges one command with its words: what it is, what it reads and writes, and what it starts in turn. */
import { posix } from "node:path"
import type { SimpleCommand } from "../../../../tools/command.ts"
import { type Field, HIDDEN_COMMAND, simpleCommand } from "./facts.ts"
import { git } from "./git.ts"
import { type Judge, type Place, RUNS_ANYTHING, resolveIn } from "./judged.ts"
import { PLAIN_READERS } from "./plain-readers.ts"
import { SPECIAL_READERS } from "./special-readers.ts"
import { isRunner, unwrap } from "./wrappers.ts"
import { WRITERS } from "./writers.ts"

export interface JudgedWords {
  /** The command, and those that it starts. */
  readonly commands: readonly SimpleCommand[]
  /** What is not known, as sentences for a person. */
  readonly unknown: readonly string[]
  /** Scripts that are words of it: of `bash -c` and `eval`. */
  readonly scripts: readonly ScriptInWord[]
}

export interface ScriptInWord {
  /** `undefined`: only known when it runs. */
  readonly text: string | undefined
  readonly isOtherShell: boolean
}

const READERS: Readonly<Record<string, Judge>> = { ...PLAIN_READERS, ...SPECIAL_READERS, git, cd: judgeCd }
/**
 * The programs that run without a sandbox: those that people use every day, and whose words are read alike on all systems. For every other
 * one, an option that is read otherwise than here could write a file or read one elsewhere, and only a sandbox makes up for that.
 */
const WITHOUT_SANDBOX = new Set(
  `[ : basename cat cd cmp command cut date diff dirname du echo egrep false fgrep find git grep head id ls nl printf ps pwd readlink realpath
  rg sed seq sha256sum sort stat tail test tr true type uname uniq wc which whoami
  bash cargo clang cmake docker g++ gcc go make node perl pip pip3 python python3 ruby rustc uv`.split(/\s+/),
)
const MAX_DEPTH = 10
const MAX_GUESSES = 8
const MAX_NAMES = 400
const MAX_NAME_CHARACTERS = 4_096 // the longest path that Linux takes

export function judgeWords(fields: readonly Field[], place: Place, depth = 0): JudgedWords {
  const name = fields[0]?.text
  if (name === undefined || name === "" || depth > MAX_DEPTH)
    return { commands: [HIDDEN_COMMAND], unknown: ["The program is only known when it runs."], scripts: [] }
  const program = name.slice(name.lastIndexOf("/") + 1)
  const args = fields.slice(1)
  const other = otherProgram(name, args, place)
  const judged = started(program, args, { fields, place, depth }) ?? byTable(program, args, { fields, place, depth })
  if (other === undefined) return judged
  const [own, ...rest] = judged.commands
  return { ...judged, commands: [{ ...own!, isReadOnly: false, isWrapper: false }, ...rest], unknown: [other] }
}

interface Judging {
  readonly fields: readonly Field[]
  readonly place: Place
  readonly depth: number
}

/** A program that is there to start another one: `timeout`, `xargs`, a shell with a script. */
function started(program: string, args: readonly Field[], { fields, place, depth }: Judging): JudgedWords | undefined {
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
      const inner = judgeWords(found.words, place, depth + 1)
      const unknown = place.hasSandbox ? [] : [`${program} starts ${found.words[0]?.text ?? "another program"}.`]
      return {
        ...inner,
        commands: [own(found.isTransparent), ...inner.commands],
        unknown: [...inner.unknown, ...unknown],
      }
    }
  }
}

function byTable(program: string, args: readonly Field[], { fields, place, depth }: Judging): JudgedWords {
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
  const inner = starts.map((words) => judgeWords(words, place, depth + 1))
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

/** It reads nothing but the directory. Where the line goes on from is for the caller. */
function judgeCd(args: readonly Field[], place: Place) {
  const [target, ...more] = args.filter(({ text }) => !/^-[LP]+$|^--$/.test(text ?? ""))
  const text = target ? target.text : place.home
  const path = text === undefined || text === "-" || more.length > 0 ? undefined : resolveIn(text || ".", place)
  return { state: "understood", isReadOnly: true, reads: [{ path }], writes: [] } as const
}

/** Every word that may be the start of a command, for rules that deny or ask. */
function guessesAt(fields: readonly Field[]): readonly SimpleCommand[] {
  const starts = fields.flatMap(({ text }, at) => (at > 0 && text !== undefined && !text.startsWith("-") ? [at] : []))
  return starts
    .slice(0, MAX_GUESSES)
    .map((at) => ({ ...simpleCommand(fields.slice(at).map(({ text }) => text)), isReadOnly: true, isGuess: true }))
}

/** What a command that is not understood may do with files: every word, and the part of it after a sign, may be a path. */
export function namesIn(args: readonly Field[], place: Place): readonly string[] {
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

/** A program called by its path is the known one only here, or in a directory of PATH that counts. */
const SYSTEM_DIRECTORIES = new Set(["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"])

/** bash does not look for these in PATH. */
const BUILTINS = new Set(
  `. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit
  export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set
  shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait`.split(/\s+/),
)
/** Files of version managers that run under the name of a program and let the project decide its version: asdf, mise, pyenv, volta. */
const SHIM = /\/shims\/|\/\.?(?:volta|proto)\/|\/(?:mise|asdf|rtx|aqua|aqua-proxy|proto|volta-shim|vfox|pkgx|devbox)$/

/** They say where the programs are that their words name. */
const LOOKUPS = new Set(["which", "type", "command"])

/** A sentence, if the name leads to a file that is not the known program. */
function otherProgram(name: string, args: readonly Field[], { programs, directory }: Place): string | undefined {
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

/**
 * The programs that the command analyzer knows, with their allowed options. Names come from the analyzer's tables and string literals in
 * its sources, and the analyzer itself decides which of them it accepts. So a new program or option is tested without being listed here.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { AnalysisContext, CommandAnalyzer } from "../../src/agent/tools/shell/command/command-effects.ts"
import { git } from "../../src/agent/tools/shell/command/git.ts"
import { PLAIN_READERS } from "../../src/agent/tools/shell/command/plain-readers.ts"
import { SPECIAL_READERS } from "../../src/agent/tools/shell/command/special-readers.ts"
import { unwrap } from "../../src/agent/tools/shell/command/wrapped-commands.ts"

const SOURCES = join(import.meta.dirname, "../../src/agent/tools/shell/command")
const LETTERS = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"]
/** A context without a disk, so that only the arguments matter. */
const NOWHERE = { directory: "/", disk: undefined, programs: undefined, home: "/", env: {} } as AnalysisContext

export interface KnownOption {
  /** The option as written: `-n`, `--lines`. */
  readonly text: string
  readonly takesValue: boolean
}

export interface KnownProgram {
  /** The program's name. `git log` is a program of its own. */
  readonly words: readonly string[]
  readonly options: readonly KnownOption[]
}

export interface KnownPrograms {
  readonly readers: readonly KnownProgram[]
  readonly wrappers: readonly KnownProgram[]
}

export function knownPrograms(): KnownPrograms {
  const names = namesInSources()
  const candidates = [...LETTERS.map((letter) => `-${letter}`), ...names.map((name) => `--${name}`)]
  const tests = names.map((name) => `-${name}`)
  const readers = Object.entries({ ...PLAIN_READERS, ...SPECIAL_READERS }).map(([name, judge]) =>
    programOf([name], name === "find" ? tests : candidates, understoodBy(judge)),
  )
  const { npm } = SPECIAL_READERS
  const parts = (program: string, judge: CommandAnalyzer) =>
    [...new Set([...names, "config", "stash list", "remote", "worktree list", "submodule status"])]
      .map((name) => name.split(" "))
      .filter((words) => understoodBy(judge)(words))
      .map((words) => programOf([program, ...words], candidates, understoodBy(judge, ...words)))
  const starts = (name: string) => (args: readonly string[]) =>
    unwrap(name, fields(...args, "1", "1", "ls")).state === "command"
  const wrappers = names.filter((name) => starts(name)([])).map((name) => programOf([name], candidates, starts(name)))
  return { readers: [...readers, ...parts("git", git), ...(npm ? parts("npm", npm) : [])], wrappers }
}

/** All possible names in the sources: of programs, subcommands, options. */
function namesInSources(): readonly string[] {
  const files = readdirSync(SOURCES).filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  const sources = files.map((file) => readFileSync(join(SOURCES, file), "utf8"))
  const text = sources.join("\n").replace(/\/\*[\s\S]*?\*\/|^\s*import.*$/gm, "")
  return [...new Set(text.match(/(?<![\w.-])[a-z][a-z0-9-]+(?=[:?<>]?[\s`"|:])/g))].sort()
}

const fields = (...words: readonly string[]) => words.map((text) => ({ text }))

const understoodBy =
  (judge: CommandAnalyzer, ...before: readonly string[]) =>
  (args: readonly string[]): boolean =>
    judge(fields(...before, ...args), NOWHERE).state === "understood"

function programOf(
  words: readonly string[],
  candidates: readonly string[],
  accepts: (args: readonly string[]) => boolean,
): KnownProgram {
  const takesAnything = accepts(["--no-such-option-here"]) // `echo`
  const options = takesAnything ? [] : candidates.flatMap((text) => optionOf(text, accepts))
  return { words, options: [...new Map(options.map((option) => [option.text, option])).values()] }
}

/** `p` serves as a file, a value, and a script of sed and awk. */
function optionOf(text: string, accepts: (args: readonly string[]) => boolean): readonly KnownOption[] {
  if (accepts([text])) return [{ text, takesValue: text.startsWith("--") && accepts([`${text}=1`]) }]
  if (accepts([text, "p"])) return [{ text, takesValue: true }]
  return []
}

/**
 * Recognises command lines that change nothing. A line counts only if all of it is understood: plain commands from the table below,
 * joined by `|`, `&&`, `||` or `;`. A line with redirection, substitution, variables, escapes, background or grouping does not count.
 */

/** Options that make a reading command write, or start a program. */
interface Forbidden {
  /** In any cluster of short options: `o` forbids `-o`, `-ro` and `-o.txt`. */
  readonly letters?: string
  /** Without dashes. Abbreviations, which GNU accepts, are forbidden too. */
  readonly words?: readonly string[]
}
type Judge = (args: readonly string[]) => boolean

const anything: Judge = () => true
const without =
  ({ letters = "", words = [] }: Forbidden): Judge =>
  (args) =>
    !args.some((arg) => {
      if (arg.startsWith("--")) {
        const given = arg.slice(2).split("=")[0]!
        return given !== "" && words.some((word) => word.startsWith(given))
      }
      return arg.startsWith("-") && [...letters].some((letter) => arg.includes(letter))
    })
const only =
  (...allowed: readonly RegExp[]): Judge =>
  (args) =>
    args.every((arg) => allowed.some((form) => form.test(arg)))
/** Anything that may not be an option counts as a file: `-`, `--`, and everything after it. */
const atMostOneFile: Judge = (args) => args.filter((arg) => !/^(?:-[cdDuiz]+|--[a-z-]+)$/.test(arg)).length <= 1
const both =
  (first: Judge, second: Judge): Judge =>
  (args) =>
    first(args) && second(args)

const diffing = without({ words: ["output", "ext-diff", "textconv"] })

/** By subcommand. Options before it (`-c`, `-C`, `--exec-path`) can make git run anything, so none is allowed. */
const GIT: Readonly<Record<string, Judge>> = {
  status: anything,
  log: diffing,
  diff: diffing,
  show: diffing,
  blame: diffing,
  shortlog: diffing,
  describe: anything,
  "rev-parse": anything,
  "rev-list": anything,
  "merge-base": anything,
  "ls-files": anything,
  "ls-tree": anything,
  "cat-file": without({ words: ["textconv", "filters"] }),
  grep: without({ letters: "O", words: ["open-files-in-pager", "textconv"] }),
  branch: only(/^(?:-a|-r|-v|-vv|--list|--all|--remotes|--show-current|--verbose)$/),
  tag: only(/^(?:-l|--list)$/),
  remote: only(/^-v$/),
  stash: (args) => args[0] === "list" && diffing(args),
  reflog: (args) => args.length === 0 || (args[0] === "show" && diffing(args)),
  worktree: (args) => args.length === 1 && args[0] === "list",
}

const git: Judge = ([subcommand = "", ...args]) => Object.hasOwn(GIT, subcommand) && GIT[subcommand]!(args)

/** `sed` scripts can write files and run programs. Only "print these lines" is allowed. */
const printLines: Judge = ([option, script = "", ...files]) =>
  option === "-n" && /^\d+(?:,(?:\d+|\$))?p$/.test(script) && noOptions(files)
const noOptions: Judge = (args) => !args.some((arg) => arg.startsWith("-"))
const version = only(/^(?:--version|-v|-V)$/)

const COMMANDS: Readonly<Record<string, Judge>> = {
  basename: anything,
  cat: anything,
  cksum: anything,
  cmp: anything,
  column: anything,
  comm: anything,
  command: (args) => args[0] === "-v" && args.length === 2,
  cut: anything,
  date: only(/^\+/, /^(?:-u|-R|--utc)$/, /^(?:-I|--iso-8601)/), // anything else may set the clock
  df: anything,
  diff: anything,
  dirname: anything,
  du: anything,
  echo: anything,
  egrep: anything,
  false: anything,
  fgrep: anything,
  file: without({ letters: "C", words: ["compile"] }),
  find: (args) => !args.some((arg) => /^-(?:exec|ok|delete|fprint|fls)/.test(arg)),
  git,
  grep: anything,
  head: anything,
  hexdump: anything,
  id: anything,
  jq: anything,
  ls: anything,
  md5sum: anything,
  nl: anything,
  node: both(version, (args) => args.length === 1),
  npm: both(version, (args) => args.length === 1),
  nproc: anything,
  od: anything,
  ps: anything,
  pwd: anything,
  readlink: anything,
  realpath: anything,
  rev: anything,
  rg: without({ words: ["pre", "hostname-bin"] }),
  sed: printLines,
  seq: anything,
  sha1sum: anything,
  sha256sum: anything,
  sort: without({ letters: "oT", words: ["output", "compress-program", "temporary-directory"] }),
  stat: anything,
  strings: anything,
  tac: anything,
  tail: anything,
  tr: anything,
  tree: without({ letters: "oR", words: ["output"] }),
  true: anything,
  uname: anything,
  uniq: atMostOneFile, // it writes to the second one
  uptime: anything,
  wc: anything,
  which: anything,
  whoami: anything,
}

export function isReadOnlyCommand(line: string): boolean {
  const commands = parse(line)
  return (
    commands !== undefined &&
    commands.length > 0 &&
    commands.every(([name = "", ...args]) => Object.hasOwn(COMMANDS, name) && COMMANDS[name]!(args))
  )
}

/** The possible paths in a read-only command line: words that are not options, and the values of options. */
export function pathsNamedBy(line: string): readonly string[] {
  const words = (parse(line) ?? []).flatMap(([, ...args]) => args)
  const paths = words.flatMap((word) => (word.startsWith("-") ? word.split("=").slice(1) : [word]))
  return [...new Set(paths.map(beforeGlob).filter((path) => path !== ""))]
}

/** The directory in which a pattern is matched. */
function beforeGlob(word: string): string {
  const at = word.search(/[*?[]/)
  return at < 0 ? word : word.slice(0, word.lastIndexOf("/", at) + 1) || "."
}

const SEPARATOR = /^(?:&&|\|\||[;|])/
const PLAIN = /^[^\s'"\\$`<>|&;(){}#!~*?[\]]+/
const BLANK = /^[ \t]+/
const SINGLE_QUOTED = /^'([^']*)'/
const DOUBLE_QUOTED = /^"([^"\\$`!]*)"/
/** Harmless inside a word, but not where a match could become an option: a file may be called `-delete`. */
const INSIDE_WORD = /^[#!~*?[\]]/
const CANNOT_BE_OPTION = /^[^-]/

/** The words of each command, or `undefined` if a part of the line is not understood. */
function parse(line: string): readonly (readonly string[])[] | undefined {
  const commands: string[][] = [[]]
  let rest = line.trim()
  let word: string | undefined
  const endWord = () => {
    if (word !== undefined) commands.at(-1)!.push(word)
    word = undefined
  }
  const take = (form: RegExp): string | undefined => {
    const match = form.exec(rest)
    if (!match) return undefined
    rest = rest.slice(match[0].length)
    return match[1] ?? match[0]
  }
  while (rest !== "") {
    if (take(BLANK) !== undefined) endWord()
    else if (take(SEPARATOR) !== undefined) {
      endWord()
      if (commands.at(-1)!.length === 0) return undefined
      commands.push([])
    } else {
      const isSafe = CANNOT_BE_OPTION.test(word ?? "")
      const part = take(PLAIN) ?? take(SINGLE_QUOTED) ?? take(DOUBLE_QUOTED) ?? (isSafe ? take(INSIDE_WORD) : undefined)
      if (part === undefined) return undefined
      word = (word ?? "") + part
    }
  }
  endWord()
  return commands.at(-1)!.length === 0 ? undefined : commands
}

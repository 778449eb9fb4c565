/** Reading commands with their own argument language: find, sed, awk, jq, tar. */
import { dirname, join } from "node:path"
import type { FileUse } from "../../../../tools/command.ts"
import {
  type CommandAnalyzer,
  changesFiles,
  currentDirectory,
  filesInOptions,
  filesOf,
  hasOption,
  RUNS_ANYTHING,
  readOnly,
  resolveIn,
  treeOf,
  unknownEffects,
} from "./command-effects.ts"
import type { ExpandedWord } from "./expanded-word.ts"
import { parseOptions } from "./options.ts"

const RUNS_CODE = "runs code that can change files or start programs"

/** Options of sed. Excludes `-l`, which takes a value in GNU sed but not in BSD sed. */
const SED = {
  short: "nEruzs e: i? f<",
  long: "quiet silent expression: regexp-extended null-data separate unbuffered line-length: posix debug in-place? file<",
}
/** Scripts that print some lines: `10,20p;40p`. Any other script counts as code. */
const PRINTS_LINES = /^(?:\d+|\$)(?:,(?:\d+|\$))?p(?:;(?:\d+|\$)(?:,(?:\d+|\$))?p)*$/

const sed: CommandAnalyzer = (args, place) => {
  const taken = parseOptions(SED, args)
  if (taken.state === "not understood") return unknownEffects(taken.why)
  const { options, operands } = taken
  const given = options.filter(({ name }) => name === "e" || name === "expression").map(({ value }) => value)
  const isGiven = given.length > 0 || hasOption(options, "f", "file")
  const scripts = isGiven ? given : operands.slice(0, 1)
  const files = isGiven ? operands : operands.slice(1)
  const reads = [...filesInOptions(options, place).reads, ...files.flatMap((file) => filesOf(file, place))]
  if (hasOption(options, "i", "in-place"))
    return changesFiles({ reads, writes: files.flatMap((file) => filesOf(file, place)) })
  const isPlain =
    hasOption(options, "n", "quiet", "silent") &&
    !hasOption(options, "f", "file") &&
    scripts.every((script) => PRINTS_LINES.test(script?.text ?? ""))
  return isPlain || place.hasSandbox ? readOnly({ reads }) : unknownEffects(RUNS_CODE)
}

/** Creates the analyzer of an interpreter. Its program could do anything, so it needs a sandbox. */
const interpreter =
  (
    table: { readonly short: string; readonly long: string },
    { pairs = [] }: { readonly pairs?: readonly string[] } = {},
  ): CommandAnalyzer =>
  (args, place) => {
    const words: ExpandedWord[] = []
    for (let at = 0; at < args.length; at++) {
      if (pairs.includes(args[at]!.text ?? "")) at += 2
      else words.push(args[at]!)
    }
    const taken = parseOptions({ ...table, stops: true }, words)
    if (taken.state === "not understood") return unknownEffects(taken.why)
    if (!place.hasSandbox) return unknownEffects(RUNS_CODE)
    return readOnly({ reads: taken.operands.slice(1).flatMap((file) => filesOf(file, place)) })
  }

const awk = interpreter({ short: "F: v:", long: "field-separator: assign: re-interval posix traditional" })
const jq = interpreter(
  {
    short: "rnscCMaeSjR",
    long: `raw-output null-input slurp compact-output color-output monochrome-output ascii-output exit-status sort-keys join-output tab
      raw-input unbuffered stream seq raw-output0 indent:`,
  },
  { pairs: ["--arg", "--argjson", "--slurpfile", "--rawfile"] },
)

/** Expressions of find by number of arguments. */
const FIND_TESTS: Readonly<Record<string, number>> = Object.fromEntries([
  ...`depth mount xdev noleaf empty true false nouser nogroup readable writable executable print print0 prune quit ls daystart warn nowarn
    a and o or not`
    .split(/\s+/)
    .map((name) => [`-${name}`, 0]),
  ...`name iname path ipath wholename iwholename regex iregex regextype type xtype size mtime atime ctime mmin amin cmin perm user group uid
    gid links maxdepth mindepth inum lname ilname fstype used printf`
    .split(/\s+/)
    .map((name) => [`-${name}`, 1]),
])
const FIND_COMPARES = /^-(?:newer\w*|anewer|cnewer|samefile)$/
const FIND_WRITES = /^-f(?:printf?0?|ls)$/
const FIND_RUNS = /^-(?:exec|execdir|ok|okdir)$/

/** Analyzes `find`. The commands that it starts get the found files as arguments. */
const find: CommandAnalyzer = (args, place) => {
  const rest = [...args]
  let followsLinks = false
  while (/^-(?:[HLP]|O\d)$/.test(rest[0]?.text ?? "")) followsLinks = rest.shift()!.text === "-L" || followsLinks
  const roots: ExpandedWord[] = []
  while (rest[0] && !/^(?:-|[(),!]$)/.test(rest[0].text ?? "")) roots.push(rest.shift()!)
  if (roots.length === 0) roots.push(currentDirectory)
  if (rest.some(({ text }) => text === "-follow")) followsLinks = true
  const places = roots.map(({ text }) => (text === undefined ? undefined : resolveIn(text, place)))
  const reads = places.flatMap((path) => treeOf(path, place, { followsLinks, namesOnly: true }))
  const writes: FileUse[] = []
  const starts: (readonly ExpandedWord[])[] = []
  for (let word = rest.shift(); word; word = rest.shift()) {
    const name = word.text
    if (name === undefined) return unknownEffects("has an option that is only known when it runs")
    if (name === "(" || name === ")" || name === "!" || name === "," || name === "-follow") continue
    if (FIND_COMPARES.test(name)) reads.push(...filesOf(rest.shift() ?? { text: undefined }, place))
    else if (FIND_WRITES.test(name)) {
      writes.push(...filesOf(rest.shift() ?? { text: undefined }, place, { isDashFile: true }))
      if (name === "-fprintf") rest.shift()
    } else if (name === "-delete") writes.push(...places.map((path) => ({ path, isTree: true })))
    else if (FIND_RUNS.test(name)) {
      const end = rest.findIndex(({ text }, at) => text === ";" || (text === "+" && rest[at - 1]?.text === "{}"))
      const words = rest.splice(0, end < 0 ? rest.length : end + 1)
      const inner = end < 0 ? words : words.slice(0, -1)
      starts.push(inner.flatMap(({ text }) => (text?.includes("{}") ? [UNKNOWN, UNKNOWN] : [{ text }])))
    } else if (FIND_TESTS[name] === undefined)
      return unknownEffects(`has the option ${name}, which is not known to only read`)
    else rest.splice(0, FIND_TESTS[name])
  }
  const isReading = writes.length === 0 && (starts.length === 0 || place.hasSandbox)
  return isReading ? readOnly({ reads, starts }) : changesFiles({ reads, writes, starts })
}

/** Placeholder for found files. Two are used, so that commands that write their second file are detected. */
const UNKNOWN: ExpandedWord = { text: undefined }

/** Analyzes `tar`: only listings are read-only. A name with a colon is an archive on another machine. */
const tar: CommandAnalyzer = (args, place) => {
  const [mode, archive, ...members] = args
  const isListing =
    /^-?[tvzjJ]*t[vzjJ]*f$/.test(mode?.text ?? "") && archive?.text !== undefined && !archive.text.includes(":")
  const isPlain = members.every(({ text }) => text !== undefined && !text.startsWith("-"))
  return isListing && isPlain
    ? readOnly({ reads: filesOf(archive, place) })
    : unknownEffects("can write files, unless it only lists an archive")
}

/** Creates the analyzer of a version query. Short options differ: `python -v` and `bash -v` continue and run their input. */
const versionOnly =
  (...short: readonly string[]): CommandAnalyzer =>
  (args) =>
    isVersion(args, short) ? readOnly() : unknownEffects(RUNS_ANYTHING)
const isVersion = (args: readonly ExpandedWord[], short: readonly string[]): boolean =>
  args.length === 1 && ["--version", ...short].includes(args[0]!.text ?? "")

const FD = {
  short: "HIusigFaplL01q e: E: t: d: S: c: j: o:",
  long: `hidden no-ignore unrestricted case-sensitive ignore-case glob fixed-strings absolute-path full-path list-details follow extension:
    exclude: type: max-depth: min-depth: exact-depth: size: color: threads: max-results: print0 quiet changed-within: changed-before:
    no-ignore-vcs show-errors prune`,
}
const fd: CommandAnalyzer = (args, place) => {
  const taken = parseOptions(FD, args)
  if (taken.state === "not understood") return unknownEffects(taken.why)
  const places = taken.operands.length > 1 ? taken.operands.slice(1) : [currentDirectory]
  const followsLinks = hasOption(taken.options, "L", "follow")
  return readOnly({
    reads: places.flatMap(({ text }) =>
      treeOf(text === undefined ? undefined : resolveIn(text, place), place, { followsLinks, namesOnly: true }),
    ),
  })
}

/**
 * Analyzes `set`: only options for error handling are allowed. `-x` prints words with expanded variables, and without arguments `set`
 * prints all variables.
 */
const set: CommandAnalyzer = (args) => {
  const words = args.map(({ text }) => text ?? "?").join(" ")
  return /^(?:[-+](?:[eu]+|[eu]*o (?:pipefail|errexit|nounset))(?: |$))+$/.test(words)
    ? readOnly()
    : unknownEffects("can show or set variables")
}

/** Creates the analyzer of a toolchain. A file in the project may select the version, by path or from the network. */
const toolchain =
  (files: readonly string[], isAsked: (args: readonly ExpandedWord[]) => boolean): CommandAnalyzer =>
  (args, { directory, disk }) => {
    if (!isAsked(args)) return unknownEffects(RUNS_ANYTHING)
    if (directory === undefined) return unknownEffects("runs in a directory that is not known")
    for (let at = directory; ; at = dirname(at)) {
      if (disk && files.some((name) => disk.isThere(join(at, name))))
        return unknownEffects(`may be another version, which ${at} names`)
      if (at === dirname(at)) return readOnly()
    }
  }
const rust = toolchain(["rust-toolchain", "rust-toolchain.toml"], (args) => isVersion(args, ["-V"]))
const go = toolchain(["go.mod", "go.work"], (args) => args.length === 1 && args[0]!.text === "version")

/**
 * Programs whose version may be queried. npm, yarn and pnpm are excluded, because they always obey files of the project and may write where
 * these specify. java is excluded, because it always writes temporary files.
 */
const VERSIONED: Readonly<Record<string, CommandAnalyzer>> = {
  bash: versionOnly(),
  clang: versionOnly(),
  cargo: rust,
  cmake: versionOnly(),
  docker: versionOnly("-v"),
  "g++": versionOnly(),
  gcc: versionOnly(),
  go,
  make: versionOnly("-v"),
  node: versionOnly("-v"),
  perl: versionOnly("-v"),
  pip: versionOnly("-V"),
  pip3: versionOnly("-V"),
  python: versionOnly("-V"),
  python3: versionOnly("-V"),
  ruby: versionOnly(),
  rustc: rust,
  uv: versionOnly("-V"),
}

export const SPECIAL_READERS: Readonly<Record<string, CommandAnalyzer>> = {
  ...VERSIONED,
  awk,
  command: (args) => (args[0]?.text === "-v" ? readOnly() : unknownEffects("starts another program")),
  fd,
  fdfind: fd,
  find,
  gawk: awk,
  jq,
  mawk: awk,
  sed,
  set,
  tar,
}

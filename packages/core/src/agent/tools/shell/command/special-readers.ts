/** Reading commands whose arguments are a language of their own: find, sed, awk, jq, tar. */
import { dirname, join } from "node:path"
import type { FileUse } from "../../../../tools/command.ts"
import type { Field } from "./facts.ts"
import {
  changing,
  filesInOptions,
  filesOf,
  has,
  here,
  type Judge,
  RUNS_ANYTHING,
  readOnly,
  resolveIn,
  treeOf,
  unclear,
} from "./judged.ts"
import { takeApart } from "./options.ts"

const RUNS_CODE = "runs code that can change files or start programs"

/** Without `-l`: it takes a value in GNU sed, and none in BSD sed. */
const SED = {
  short: "nEruzs e: i? f<",
  long: "quiet silent expression: regexp-extended null-data separate unbuffered line-length: posix debug in-place? file<",
}
/** Some lines of a file: `10,20p;40p`. Any other script is code. */
const PRINTS_LINES = /^(?:\d+|\$)(?:,(?:\d+|\$))?p(?:;(?:\d+|\$)(?:,(?:\d+|\$))?p)*$/

const sed: Judge = (args, place) => {
  const taken = takeApart(SED, args)
  if (taken.state === "not understood") return unclear(taken.why)
  const { options, operands } = taken
  const given = options.filter(({ name }) => name === "e" || name === "expression").map(({ value }) => value)
  const isGiven = given.length > 0 || has(options, "f", "file")
  const scripts = isGiven ? given : operands.slice(0, 1)
  const files = isGiven ? operands : operands.slice(1)
  const reads = [...filesInOptions(options, place).reads, ...files.flatMap((file) => filesOf(file, place))]
  if (has(options, "i", "in-place")) return changing({ reads, writes: files.flatMap((file) => filesOf(file, place)) })
  const isPlain =
    has(options, "n", "quiet", "silent") &&
    !has(options, "f", "file") &&
    scripts.every((script) => PRINTS_LINES.test(script?.text ?? ""))
  return isPlain || place.hasSandbox ? readOnly({ reads }) : unclear(RUNS_CODE)
}

/** A program in a language of its own, and the files it reads. Only a sandbox keeps it from doing more. */
const interpreter =
  (
    table: { readonly short: string; readonly long: string },
    { pairs = [] }: { readonly pairs?: readonly string[] } = {},
  ): Judge =>
  (args, place) => {
    const words: Field[] = []
    for (let at = 0; at < args.length; at++) {
      if (pairs.includes(args[at]!.text ?? "")) at += 2
      else words.push(args[at]!)
    }
    const taken = takeApart({ ...table, stops: true }, words)
    if (taken.state === "not understood") return unclear(taken.why)
    if (!place.hasSandbox) return unclear(RUNS_CODE)
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

/** Tests of find, by how many arguments they take. */
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

/** What it starts for the files that it finds is only known with its words. */
const find: Judge = (args, place) => {
  const rest = [...args]
  let followsLinks = false
  while (/^-(?:[HLP]|O\d)$/.test(rest[0]?.text ?? "")) followsLinks = rest.shift()!.text === "-L" || followsLinks
  const roots: Field[] = []
  while (rest[0] && !/^(?:-|[(),!]$)/.test(rest[0].text ?? "")) roots.push(rest.shift()!)
  if (roots.length === 0) roots.push(here)
  if (rest.some(({ text }) => text === "-follow")) followsLinks = true
  const places = roots.map(({ text }) => (text === undefined ? undefined : resolveIn(text, place)))
  const reads = places.flatMap((path) => treeOf(path, place, { followsLinks, namesOnly: true }))
  const writes: FileUse[] = []
  const starts: (readonly Field[])[] = []
  for (let word = rest.shift(); word; word = rest.shift()) {
    const name = word.text
    if (name === undefined) return unclear("has an option that is only known when it runs")
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
    } else if (FIND_TESTS[name] === undefined) return unclear(`has the option ${name}, which is not known to only read`)
    else rest.splice(0, FIND_TESTS[name])
  }
  const isReading = writes.length === 0 && (starts.length === 0 || place.hasSandbox)
  return isReading ? readOnly({ reads, starts }) : changing({ reads, writes, starts })
}

/** As many words as there are files: two, so that what writes its second file is noticed. */
const UNKNOWN: Field = { text: undefined }

/** Only a listing. A name with a colon is an archive on another machine. */
const tar: Judge = (args, place) => {
  const [mode, archive, ...members] = args
  const isListing =
    /^-?[tvzjJ]*t[vzjJ]*f$/.test(mode?.text ?? "") && archive?.text !== undefined && !archive.text.includes(":")
  const isPlain = members.every(({ text }) => text !== undefined && !text.startsWith("-"))
  return isListing && isPlain
    ? readOnly({ reads: filesOf(archive, place) })
    : unclear("can write files, unless it only lists an archive")
}

/** Short forms differ: `python -v` and `bash -v` go on and run their input. */
const versionOnly =
  (...short: readonly string[]): Judge =>
  (args) =>
    isVersion(args, short) ? readOnly() : unclear(RUNS_ANYTHING)
const isVersion = (args: readonly Field[], short: readonly string[]): boolean =>
  args.length === 1 && ["--version", ...short].includes(args[0]!.text ?? "")

const FD = {
  short: "HIusigFaplL01q e: E: t: d: S: c: j: o:",
  long: `hidden no-ignore unrestricted case-sensitive ignore-case glob fixed-strings absolute-path full-path list-details follow extension:
    exclude: type: max-depth: min-depth: exact-depth: size: color: threads: max-results: print0 quiet changed-within: changed-before:
    no-ignore-vcs show-errors prune`,
}
const fd: Judge = (args, place) => {
  const taken = takeApart(FD, args)
  if (taken.state === "not understood") return unclear(taken.why)
  const places = taken.operands.length > 1 ? taken.operands.slice(1) : [here]
  const followsLinks = has(taken.options, "L", "follow")
  return readOnly({
    reads: places.flatMap(({ text }) =>
      treeOf(text === undefined ? undefined : resolveIn(text, place), place, { followsLinks, namesOnly: true }),
    ),
  })
}

/** Switches that stop at errors. `-x` prints every word with its variables filled in. Without any, `set` prints all variables. */
const set: Judge = (args) => {
  const words = args.map(({ text }) => text ?? "?").join(" ")
  return /^(?:[-+](?:[eu]+|[eu]*o (?:pipefail|errexit|nounset))(?: |$))+$/.test(words)
    ? readOnly()
    : unclear("can show or set variables")
}

/** A file of the project may say which version runs, by its path or from the network. */
const toolchain =
  (files: readonly string[], isAsked: (args: readonly Field[]) => boolean): Judge =>
  (args, { directory, disk }) => {
    if (!isAsked(args)) return unclear(RUNS_ANYTHING)
    if (directory === undefined) return unclear("runs in a directory that is not known")
    for (let at = directory; ; at = dirname(at)) {
      if (disk && files.some((name) => disk.isThere(join(at, name))))
        return unclear(`may be another version, which ${at} names`)
      if (at === dirname(at)) return readOnly()
    }
  }
const rust = toolchain(["rust-toolchain", "rust-toolchain.toml"], (args) => isVersion(args, ["-V"]))
const go = toolchain(["go.mod", "go.work"], (args) => args.length === 1 && args[0]!.text === "version")

/**
 * Programs whose version may be asked for. Not npm, yarn or pnpm: they obey files of the project in whatever they do, and may write where
 * those say. Not java: it writes temporary files even then.
 */
const VERSIONED: Readonly<Record<string, Judge>> = {
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

export const SPECIAL_READERS: Readonly<Record<string, Judge>> = {
  ...VERSIONED,
  awk,
  command: (args) => (args[0]?.text === "-v" ? readOnly() : unclear("starts another program")),
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

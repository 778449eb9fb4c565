/** Reading commands whose arguments are a language of their own: find, sed, awk, jq, tar. */
import { dirname, join } from "node:path"
import { isHarmlessAwk } from "./awk-program.ts"
import type { FileUse } from "./facts.ts"
import { type Field, known, mayHoldSecret } from "./fields.ts"
import { isHarmlessJq } from "./jq-filter.ts"
import {
  changing,
  filesInOptions,
  filesOf,
  has,
  here,
  type Judge,
  type Judged,
  type Place,
  type PrintedPaths,
  readOnly,
  resolveIn,
  treeOf,
  unclear,
} from "./judged.ts"
import { takeApart } from "./options.ts"
import { isHarmlessSed } from "./sed-script.ts"

/** Without `-l`: it takes a value in GNU sed, and none in BSD sed. */
const SED = {
  short: "nEruzs e: i? f<",
  long: "quiet silent expression: regexp-extended null-data separate unbuffered line-length: posix debug in-place? file<",
}

const sed: Judge = (args, place) => {
  const taken = takeApart(SED, args)
  if (taken.state === "not understood") return unclear(taken.why)
  const { options, operands } = taken
  const scripts = options.filter(({ name }) => name === "e" || name === "expression").map(({ value }) => value?.text)
  const isGiven = scripts.length > 0 || has(options, "f", "file")
  const files = isGiven ? operands : operands.slice(1)
  if (!isGiven) scripts.push(operands[0]?.text)
  const reads = [...filesInOptions(options, place).reads, ...files.flatMap((file) => filesOf(file, place))]
  if (has(options, "i", "in-place")) return changing({ reads, writes: files.flatMap((file) => filesOf(file, place)) })
  if (has(options, "f", "file")) return unclear("a script in a file")
  return scripts.every((script) => script !== undefined && isHarmlessSed(script))
    ? readOnly({ reads })
    : unclear("a script that may write a file or run a program")
}

const AWK = { short: "F: v:", long: "field-separator: assign: re-interval posix traditional", stops: true }

const awk: Judge = (args, place) => {
  const taken = takeApart(AWK, args)
  if (taken.state === "not understood") return unclear(taken.why)
  const [program, ...files] = taken.operands
  if (program?.text === undefined || !isHarmlessAwk(program.text))
    return unclear("a program that may write, run or read anything")
  if (taken.options.some(({ value }) => value && mayHoldSecret(value))) return unclear("a value of the environment")
  return readOnly({ reads: files.flatMap((file) => filesOf(file, place)) })
}

const JQ = {
  short: "rnscCMaeSj",
  long: `raw-output null-input slurp compact-output color-output monochrome-output ascii-output exit-status sort-keys join-output tab
    raw-input unbuffered stream seq raw-output0`,
}

const jq: Judge = (args, place) => {
  const plain: Field[] = []
  const reads: FileUse[] = []
  const rest = [...args]
  for (let word = rest.shift(); word; word = rest.shift()) {
    if (word.text === "--arg" || word.text === "--argjson") rest.splice(0, 2)
    else if (word.text === "--slurpfile" || word.text === "--rawfile") {
      reads.push(...filesOf(rest[1] ?? { text: undefined }, place))
      rest.splice(0, 2)
    } else if (word.text === "--indent") rest.shift()
    else plain.push(word.text === "-R" ? known("--raw-input") : word)
  }
  const taken = takeApart(JQ, plain)
  if (taken.state === "not understood") return unclear(taken.why)
  const [filter, ...files] = taken.operands
  if (filter !== undefined && (filter.text === undefined || !isHarmlessJq(filter.text)))
    return unclear("a filter that may show the environment")
  return readOnly({ reads: [...reads, ...files.flatMap((file) => filesOf(file, place))] })
}

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

export interface FindRun {
  readonly judged: Judged
  /** The commands it starts for what it finds, `{}` replaced. */
  readonly runs: readonly { readonly words: readonly Field[]; readonly isElsewhere: boolean }[]
}

export function find(args: readonly Field[], place: Place): FindRun {
  const rest = [...args]
  const runs: { words: readonly Field[]; isElsewhere: boolean }[] = []
  const isUnclear = (why: string): FindRun => ({ judged: unclear(why), runs })
  let followsLinks = false
  while (/^-(?:[HLP]|O\d)$/.test(rest[0]?.text ?? "")) followsLinks = rest.shift()!.text === "-L" || followsLinks
  const roots: Field[] = []
  while (rest[0] && !/^(?:-|[(),!]$)/.test(rest[0].text ?? "-")) roots.push(rest.shift()!)
  if (roots.length === 0) roots.push(here)
  if (rest.some(({ text }) => text === "-follow")) followsLinks = true
  const places = roots.map(({ text }) => (text === undefined ? undefined : resolveIn(text, place)))
  const isKnown = places.every((path) => path !== undefined)
  const reads = places.flatMap((path) => treeOf(path, place, { followsLinks, namesOnly: true }))
  const writes: FileUse[] = []
  let why: string | undefined
  let isPlain = true
  const outputs = new Set<string>()
  for (let word = rest.shift(); word; word = rest.shift()) {
    const name = word.text
    if (name === undefined) return isUnclear("a word that is only known when it runs")
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
      const found: Field = isKnown ? { text: undefined, below: places as readonly string[] } : { text: undefined }
      runs.push({
        words: inner.map((field) =>
          field.text === "{}" ? found : field.text?.includes("{}") ? { text: undefined } : field,
        ),
        isElsewhere: name.endsWith("dir"),
      })
      isPlain = false
    } else if (FIND_TESTS[name] === undefined) why ??= `the option ${name}`
    else {
      rest.splice(0, FIND_TESTS[name])
      if (["-printf", "-ls"].includes(name)) isPlain = false
      if (name.startsWith("-print")) outputs.add(name)
    }
  }
  if (why !== undefined) return isUnclear(why)
  const separator = outputs.has("-print0") ? "null" : "newline"
  const isPrinted = isPlain && isKnown && !followsLinks && outputs.size <= 1
  const prints: PrintedPaths | undefined = isPrinted ? { below: places as readonly string[], separator } : undefined
  return { judged: writes.length > 0 ? changing({ reads, writes }) : readOnly({ reads, prints }), runs }
}

/** Only a listing. A name with a colon is an archive on another machine. */
const tar: Judge = (args, place) => {
  const [mode, archive, ...members] = args
  const isListing =
    /^-?[tvzjJ]*t[vzjJ]*f$/.test(mode?.text ?? "") && archive?.text !== undefined && !archive.text.includes(":")
  const isPlain = members.every(({ text }) => text !== undefined && !text.startsWith("-"))
  return isListing && isPlain ? readOnly({ reads: filesOf(archive, place) }) : unclear("anything but a listing")
}

/** Short forms differ: `python -v` and `bash -v` go on and run their input. */
const versionOnly =
  (...short: readonly string[]): Judge =>
  (args) =>
    isVersion(args, short) ? readOnly() : unclear("anything but its version")
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
    : unclear("it may show or set variables")
}

/** A file of the project may say which version runs, by its path or from the network. */
const toolchain =
  (files: readonly string[], isAsked: (args: readonly Field[]) => boolean): Judge =>
  (args, { directory, disk }) => {
    if (!isAsked(args)) return unclear("anything but its version")
    if (directory === undefined) return unclear("the directory it runs in")
    for (let at = directory; ; at = dirname(at)) {
      if (disk && files.some((name) => disk.isThere(join(at, name)))) return unclear(`the toolchain that ${at} names`)
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
  fd,
  fdfind: fd,
  find: (args, place) => find(args, place).judged,
  gawk: awk,
  jq,
  mawk: awk,
  sed,
  set,
  tar,
}

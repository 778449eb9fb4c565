/**
 * Commands that only read, with their allowed options. A command with any other option is not understood, because the option could write,
 * run a program, or read file names from a file.
 */

import {
  type AnalysisContext,
  type CommandAnalyzer,
  type CommandEffects,
  changesFiles,
  filesOf,
  hasOption,
  readOnly,
  unknownEffects,
} from "./command-effects.ts"
import type { ExpandedWord } from "./expanded-word.ts"
import { parseOptions } from "./options.ts"
import { createReader, files, flagsOnly, only, type ReaderTable, text } from "./reader-table.ts"
import { test } from "./test-command.ts"

const always = () => true

const GREP: ReaderTable = {
  short: "EFGPivwxcLloqsbHhnTUZzaIrRuyV f< e: A: B: C: m: d: D:",
  long: `extended-regexp fixed-strings basic-regexp perl-regexp regexp: file< ignore-case no-ignore-case word-regexp line-regexp null-data
    no-messages invert-match version help max-count: byte-offset line-number line-buffered with-filename no-filename label: only-matching
    quiet silent binary-files: text directories: devices: recursive dereference-recursive include: exclude: exclude-from< exclude-dir:
    files-without-match files-with-matches count initial-tab null before-context: after-context: context? color? colour? binary`,
  numbers: true,
  operands: "pattern and files",
  patternOptions: ["e", "f", "regexp", "file"],
  isTree: (options) => hasOption(options, "r", "R", "recursive", "dereference-recursive", "d", "directories"),
  readsHere: (options) => hasOption(options, "r", "R", "recursive", "dereference-recursive", "d", "directories"),
  followsLinks: (options) => hasOption(options, "R", "dereference-recursive"),
}

const RIPGREP: ReaderTable = {
  short: `abcFHhIilLNnopPqsSUuvVwx0 A: B: C: E: M: T: e: f< g: j: m: r: t: d:`,
  long: `after-context: before-context: context: context-separator: block-buffered line-buffered byte-offset case-sensitive ignore-case
    smart-case color: colors: column no-column count count-matches crlf debug dfa-size-limit: encoding: engine: field-context-separator:
    field-match-separator: file< files files-with-matches files-without-match fixed-strings follow glob: glob-case-insensitive heading
    no-heading hidden no-hidden iglob: ignore-file< ignore-file-case-insensitive include-zero invert-match json line-number no-line-number
    line-regexp max-columns: max-columns-preview max-count: max-depth: max-filesize: mmap no-mmap multiline multiline-dotall no-config
    no-ignore no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global no-ignore-messages no-ignore-parent no-ignore-vcs
    no-messages no-require-git no-unicode null null-data one-file-system only-matching passthru path-separator: pcre2 pretty quiet
    regex-size-limit: regexp: replace: sort: sortr: stats stop-on-nonmatch text threads: trace trim type: type-not: type-list unrestricted
    version vimgrep with-filename no-filename word-regexp auto-hybrid-regex binary no-binary no-follow no-ignore-case generate:`,
  numbers: false,
  operands: "pattern and files",
  patternOptions: ["e", "f", "regexp", "file", "files", "type-list", "version", "V"],
  isTree: always,
  readsHere: (options) => !hasOption(options, "type-list", "version", "V"),
  followsLinks: (options) => hasOption(options, "L", "follow"),
  // explicit patterns and types match hidden files
  skipsHidden: (options) => !hasOption(options, "hidden", "u", "unrestricted", "g", "glob", "iglob", "t", "type"),
}

const CHECKSUM = files("btz", "binary text tag zero")
const BY_SIZE = "c: n: q v z"

export const PLAIN_READERS: Readonly<Record<string, CommandAnalyzer>> = {
  "[": (args, place) => test(args.at(-1)?.text === "]" ? args.slice(0, -1) : [{ text: undefined }], place),
  ":": text("", "", { stops: true }),
  arch: flagsOnly(""),
  b2sum: CHECKSUM,
  base32: files("di w:", "decode ignore-garbage wrap:", { maxOperands: 1 }),
  base64: files("d w:", "decode ignore-garbage wrap:", { maxOperands: 1 }),
  basename: text("a s: z", "multiple suffix: zero"),
  break: text(""),
  cal: text("13jmy", ""),
  cat: files("AbeEnstTuv", "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting"),
  cksum: files("", ""),
  cmp: files("bls i: n:", "print-bytes ignore-initial: verbose bytes: quiet silent"),
  // excludes -n, which takes a value on some systems
  column: files(
    "txeLJ s: c: o: N: H: R: W:",
    "table separator: output-separator: table-columns: json keep-empty-lines",
  ),
  comm: files("123z", "check-order nocheck-order output-delimiter: total zero-terminated"),
  continue: text(""),
  cut: files(
    "nsz b: c: d: f:",
    "bytes: characters: delimiter: fields: complement only-delimited output-delimiter: zero-terminated",
  ),
  date: (args) => date(args),
  df: files(
    "ahHiklPTv B: t: x:",
    "all block-size: human-readable si inodes local portability type: print-type exclude-type: total output?",
  ),
  diff: files(
    "abBcdeEinNpPqrstTuwy C: D: F: I: L: S: U: W: x: X<",
    `normal brief report-identical-files context? unified? ed rcs side-by-side width: left-column suppress-common-lines show-c-function
    show-function-line: label: expand-tabs initial-tab tabsize: suppress-blank-empty recursive no-dereference new-file
    unidirectional-new-file ignore-file-name-case no-ignore-file-name-case exclude: exclude-from< starting-file: from-file< to-file<
    ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines:
    strip-trailing-cr text minimal horizon-lines: speed-large-files color? palette:`,
    {
      numbers: true,
      isTree: always, // compares the files of two directories even without -r
      followsLinks: (options) => !hasOption(options, "no-dereference"),
    },
  ),
  dirname: text("z", "zero"),
  du: files(
    "0abcDhHklLmPsSx B: d: t: X<",
    `null all apparent-size block-size: bytes total dereference-args max-depth: human-readable inodes count-links dereference
    no-dereference separate-dirs si summarize threshold: time? time-style: exclude-from< exclude: one-file-system`,
    {
      isTree: always,
      readsHere: true,
      namesOnly: true,
      followsLinks: (options) => hasOption(options, "L", "dereference"),
    },
  ),
  echo: () => readOnly(),
  egrep: createReader(GREP),
  exit: text(""),
  expand: files("i t:", "initial tabs:"),
  expr: () => readOnly(),
  false: text("", "", { stops: true }),
  fgrep: createReader(GREP),
  // excludes -p, which sets the file's times, and -m, which reads all files of a directory
  file: files(
    "bhikLNrsv0 e: F: P:",
    "brief mime mime-type mime-encoding no-dereference dereference separator: exclude: extension no-pad keep-going raw",
  ),
  fmt: files("cstu w: p: g:", "crown-margin split-only tagged-paragraph uniform-spacing width: prefix: goal:"),
  fold: files("bs w:", "bytes spaces width:"),
  free: flagsOnly("bkmghltw", "human si total wide"),
  getconf: text("a"),
  grep: createReader(GREP),
  groups: text(""),
  head: files(BY_SIZE, "bytes: lines: quiet silent verbose zero-terminated", {
    numbers: true,
  }),
  hexdump: files("bcCdovx n: s: e:", "canonical length: skip: no-squeezing"),
  hostname: flagsOnly("sfdiI", "short fqdn"),
  id: text("agGnruzZ", "group groups name real user zero"),
  join: files("i a: e: j: o: t: v: 1: 2: z", "ignore-case check-order nocheck-order header zero-terminated"),
  jobs: text("lprs"),
  logname: flagsOnly(""),
  ls: files(
    "aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1 I: w: T:",
    `all almost-all author escape block-size: ignore-backups color? directory dired classify? file-type format: full-time
    group-directories-first no-group human-readable si dereference-command-line hide: hyperlink? indicator-style: inode ignore: kibibytes
    dereference numeric-uid-gid literal hide-control-chars quote-name quoting-style: reverse recursive size sort: time: time-style:
    tabsize: width: context zero`,
    {
      readsHere: true,
      namesOnly: true,
      isTree: (options) => hasOption(options, "R", "recursive"),
      followsLinks: (options) => hasOption(options, "L", "dereference"),
    },
  ),
  lscpu: flagsOnly("aebcJpxy", "json"),
  md5sum: CHECKSUM,
  nl: files(
    "p b: d: f: h: i: l: n: s: v: w:",
    "body-numbering: number-format: number-width: starting-line-number: number-separator:",
  ),
  nproc: flagsOnly("", "all ignore:"),
  od: files(
    "abcdfilosxv A: j: N: S: t: w?",
    "address-radix: skip-bytes: read-bytes: format: output-duplicates strings? width? endian:",
  ),
  paste: files("sz d:", "delimiters: serial zero-terminated"),
  pgrep: text(
    "flaxnocivw u: U: P: d: g: G: t: s:",
    "full list-name list-full newest oldest exact count ignore-case inverse parent: euid:",
  ),
  // -v and %n set variables
  printf: ([format]) =>
    /^-|%[^%a-zA-Z]*[hjlLqtwz]*n/.test(format?.text ?? "")
      ? unknownEffects("can set a variable of the shell")
      : readOnly(),
  ps: (args) => ps(args),
  pwd: flagsOnly("LP"),
  readlink: files(
    "fenmqsvz",
    "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero",
  ),
  realpath: files(
    "eEmLPqsz",
    "canonicalize-existing canonicalize-missing logical physical quiet relative-to: relative-base: strip no-symlinks zero",
  ),
  return: text(""),
  rev: files(""),
  rg: createReader(RIPGREP),
  seq: text("w f: s:", "format: separator: equal-width"),
  sha1sum: CHECKSUM,
  sha224sum: CHECKSUM,
  sha256sum: CHECKSUM,
  sha384sum: CHECKSUM,
  sha512sum: CHECKSUM,
  shasum: files("bt0 a:", "algorithm: binary text"),
  shuf: files("erz i: n: o>", "echo input-range: head-count: output> repeat zero-terminated random-source<"),
  sleep: text(""),
  sort: files(
    "bdfghiMnRrVcCmsuz k: t: S: o> T>",
    `ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort
    random-sort random-source< reverse sort: version-sort batch-size: check? debug key: merge output> stable buffer-size:
    field-separator: parallel: unique zero-terminated temporary-directory>`,
  ),
  stat: files("Lftxrsnq c:", "dereference file-system format: printf: terse cached:"),
  strings: files("af n: t: e: o", "all print-file-name bytes: radix: encoding:", { numbers: true }),
  sum: files("rs", "sysv"),
  tac: files("br s:", "before regex separator:"),
  tail: files(
    `${BY_SIZE} f F s:`,
    "bytes: follow? lines: max-unchanged-stats: pid: quiet silent retry sleep-interval: verbose zero-terminated",
    { numbers: true },
  ),
  test: (args, place) => test(args, place),
  times: text(""),
  tr: text("cCdst", "complement delete squeeze-repeats truncate-set1"),
  tree: files(
    "adflxpsughDFrtcUvQNqCnXJASi L: I: P: H: T:",
    `noreport dirsfirst filesfirst filelimit: charset: prune matchdirs gitignore ignore-case du si sort? nolinks inodes device timefmt:
      metafirst`,
    { isTree: always, readsHere: true, namesOnly: true, followsLinks: (options) => hasOption(options, "l") },
  ),
  true: text("", "", { stops: true }),
  tty: flagsOnly("s", "silent quiet"),
  type: text("afptP"),
  uname: flagsOnly(
    "asnrvmpio",
    "all kernel-name nodename kernel-release kernel-version machine processor operating-system",
  ),
  unexpand: files("a t:", "all first-only tabs:"),
  uniq: (args, place) => uniq(args, place),
  unzip: (args, place) => unzip(args, place),
  uptime: flagsOnly("ps", "pretty since"),
  wait: text("n"),
  wc: files("cmlLw", "bytes chars lines max-line-length words total:"),
  which: text("as", "all"),
  whoami: flagsOnly(""),
  xxd: files("abeiupE c: g: l: o: s: n:", "", { maxOperands: 1 }),
  zcat: files("f"),
}

/** Analyzes `date`: arguments other than formats may set the clock, and `-f` and `-r` read files. */
function date(args: readonly ExpandedWord[]): CommandEffects {
  const harmless = /^(?:\+.*|-u|-R|--utc|--universal|--rfc-email|-I\w*|--iso-8601(?:=\w+)?|--rfc-3339=\w+)$/s
  const taken = [...args]
  for (let word = taken.shift(); word; word = taken.shift()) {
    const value = word.text
    if (value === "-d" || value === "--date" || value === "-v") taken.shift()
    else if (value === undefined || !(harmless.test(value) || /^(?:--date=|-v[+-]?\d)/.test(value)))
      return unknownEffects("can set the clock")
  }
  return readOnly()
}

/** Analyzes `unzip`: only listings are read-only. Without an option it extracts the archive. */
function unzip(args: readonly ExpandedWord[], place: AnalysisContext): CommandEffects {
  const taken = parseOptions({ short: "lqvZ1" }, args)
  if (taken.state === "not understood") return unknownEffects(taken.why)
  if (!hasOption(taken.options, "l", "v", "Z") || taken.operands.length !== 1)
    return unknownEffects("writes files unless it only lists them")
  return readOnly({ reads: filesOf(taken.operands[0]!, place) })
}

const PS_FORMAT =
  /^(?:(?:pid|ppid|pgid|sid|user|euser|ruser|uid|gid|group|args|cmd|comm|command|etimes?|time|stat|state|%cpu|pcpu|%mem|pmem|rss|vsz|sz|tty|tt|nice|ni|pri|l?start|psr|wchan|nlwp|lwp)(?:[=,]|$))+$/

/**
 * Analyzes `ps`. Without a dash, `e` shows the environment of every process. `ps` falls back to that meaning if it does not understand
 * options with dashes, so `-e` is accepted only with options that are always understood.
 */
function ps(args: readonly ExpandedWord[]): CommandEffects {
  const table = {
    short: "AaNdefFjlLmTwyxMHcZ C: G: g: o: p: q: s: t: u: U: O:",
    long: `Group: User: group: pid: ppid: quick-pid: sid: tty: user: format: cols: columns: cumulative forest headers no-headers lines: rows:
      sort: width: deselect`,
  }
  const taken = parseOptions(table, args)
  if (taken.state === "not understood") return unknownEffects(taken.why)
  const formats = taken.options.filter(({ name }) => ["o", "O", "format"].includes(name))
  const orders = taken.options.filter(({ name }) => name === "sort")
  const isOrdered = orders.every(({ value }) => PS_FORMAT.test((value?.text ?? "").replace(/(^|,)[-+]/g, "$1")))
  if (!isOrdered || formats.some(({ value }) => !PS_FORMAT.test(value?.text ?? "")))
    return unknownEffects("may show the environment of processes")
  const isSure =
    only("A e f F j l L T w y H o sort forest headers no-headers")(taken.options) && taken.operands.length === 0
  if (args.some(({ text: word }) => /^-[^-]*e/.test(word ?? "")) && !isSure)
    return unknownEffects("may show the environment of processes")
  const isHarmless = taken.operands.every(
    ({ text: word }) => word !== undefined && /^(?:[aAxufjlvwrhTLmHsS]+|[\d,]+)$/.test(word),
  )
  return isHarmless ? readOnly() : unknownEffects("may show the environment of processes")
}

/** Analyzes `uniq`, which writes its second operand. */
function uniq(args: readonly ExpandedWord[], place: AnalysisContext): CommandEffects {
  const table = {
    short: "cdDiuz f: s: w:",
    long: "count repeated all-repeated? skip-fields: ignore-case skip-chars: unique zero-terminated check-chars: group?",
  }
  const taken = parseOptions(table, args)
  if (taken.state === "not understood") return unknownEffects(taken.why)
  const [input, output] = taken.operands
  const reads = input ? filesOf(input, place) : []
  return output ? changesFiles({ reads, writes: filesOf(output, place) }) : readOnly({ reads })
}

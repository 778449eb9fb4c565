/** Analyzes git commands: which subcommands only read, with which options, and whether the repository makes git start programs. */
import type { FileUse } from "../../../../tools/command.ts"
import { QUIETED_SETTINGS } from "../quiet-git.ts"
import {
  type AnalysisContext,
  type CommandEffects,
  filesInOptions,
  filesOf,
  hasOption,
  readOnly,
  resolveIn,
  unknownEffects,
} from "./command-effects.ts"
import type { ExpandedWord } from "./expanded-word.ts"
import { findRepository } from "./git-config.ts"
import { type GitCommand, trackedReads } from "./git-content.ts"
import { isHarmlessSetting } from "./git-settings.ts"
import { type GivenOption, type OptionTable, parseOptions } from "./options.ts"

const DIFF_SHORT = "puswabzRMCDqBrtWc U? M? C? B? X? S: G: O< l: n: L: I: i"
const DIFF_LONG = `patch no-patch raw minimal patience histogram anchored: diff-algorithm: stat? compact-summary numstat shortstat dirstat?
  cumulative summary patch-with-stat name-only name-status submodule? color? no-color color-moved? no-color-moved color-moved-ws:
  no-color-moved-ws word-diff? word-diff-regex: color-words? no-renames rename-empty no-rename-empty check ws-error-highlight: full-index
  binary abbrev? break-rewrites? find-renames? find-copies? find-copies-harder irreversible-delete diff-filter: pickaxe-all pickaxe-regex
  skip-to: rotate-to: relative? no-relative text ignore-cr-at-eol ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines
  ignore-matching-lines: inter-hunk-context: function-context exit-code quiet no-ext-diff no-textconv ignore-submodules? src-prefix:
  dst-prefix: no-prefix default-prefix line-prefix: ita-invisible-in-index unified? cached staged merge-base base ours theirs no-indent-heuristic
  indent-heuristic combined-all-paths cc diff-merges: no-diff-merges stat-width: stat-name-width: stat-count: stat-graph-width:`
const LOG_LONG = `oneline graph all branches? tags? remotes? glob: exclude: follow no-follow decorate? no-decorate decorate-refs: decorate-refs-exclude:
  source use-mailmap no-mailmap log-size max-count: skip: since: after: since-as-filter: until: before: author: committer: grep-reflog: grep:
  all-match invert-grep regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp remove-empty merges no-merges min-parents:
  max-parents: no-min-parents no-max-parents first-parent exclude-first-parent-only not bisect walk-reflogs merge boundary left-only
  right-only left-right cherry cherry-mark cherry-pick simplify-by-decoration show-pulls full-history dense sparse simplify-merges ancestry-path?
  date-order author-date-order topo-order reverse no-walk? do-walk pretty? format: abbrev-commit no-abbrev-commit encoding: expand-tabs?
  no-expand-tabs notes? no-notes relative-date date: parents children show-linear-break? root no-commit-id always reflog ignore-missing
  numbered summary email count unify-by-name group: stdin-not z exclude-hidden:`

const LOG: OptionTable = { short: `${DIFF_SHORT} g E F P`, long: `${DIFF_LONG} ${LOG_LONG}`, numbers: true }

/**
 * Options of reading subcommands. Options that name a file to read are excluded, because git resolves some from the working directory and
 * some from the root.
 */
const SUBCOMMANDS: Readonly<Record<string, OptionTable>> = {
  blame: {
    short: "cblsteflnpw M? C? L:",
    long: "root incremental encoding: first-parent date: color-lines color-by-age abbrev? show-stats score-debug show-name show-number porcelain line-porcelain minimal ignore-rev: since: no-progress",
  },
  "cat-file": { short: "tspe", long: "batch-all-objects unordered buffer allow-unknown-type use-mailmap" },
  "check-ignore": { short: "vqzn", long: "verbose quiet non-matching no-index" },
  "count-objects": { short: "vH", long: "verbose human-readable" },
  // excludes --dirty and --broken, which write the index
  describe: {
    long: "all tags contains always abbrev: long candidates: exact-match match: exclude: first-parent debug",
    short: "",
  },
  diff: LOG,
  "diff-tree": LOG,
  "for-each-ref": {
    long: "format: sort: count: points-at: merged? no-merged? contains? no-contains? ignore-case omit-empty exclude: color?",
    short: "",
  },
  grep: {
    short: "aiIwvhHEGFPnlLcoqzpWr A: B: C: m: e:",
    long: `text ignore-case word-regexp invert-match full-name extended-regexp basic-regexp perl-regexp fixed-strings line-number
      files-with-matches files-without-match name-only count all-match quiet max-depth: recursive no-recursive column only-matching break
      heading show-function function-context context: after-context: before-context: threads: cached and or not no-color color? max-count:
      null no-textconv`,
    numbers: true,
  },
  log: LOG,
  "ls-files": {
    short: "cdmosikutvzf x:",
    long: "cached deleted modified others stage ignored unmerged killed exclude: exclude-standard error-unmatch full-name abbrev? debug eol deduplicate directory no-empty-directory recurse-submodules sparse format: with-tree:",
  },
  "ls-tree": { short: "drtlz", long: "long name-only name-status object-only full-name full-tree abbrev? format:" },
  "merge-base": { short: "a", long: "all octopus is-ancestor independent fork-point" },
  "name-rev": { short: "", long: "tags name-only always refs: exclude: all no-undefined" },
  reflog: LOG,
  "rev-list": LOG,
  "rev-parse": {
    short: "q",
    long: "verify quiet short? abbrev-ref? symbolic symbolic-full-name all branches? tags? remotes? show-toplevel show-cdup show-prefix git-dir git-common-dir absolute-git-dir is-inside-git-dir is-inside-work-tree is-bare-repository is-shallow-repository show-object-format? show-superproject-working-tree not default: path-format: since: until: revs-only no-revs flags no-flags sq exclude:",
  },
  shortlog: { short: "sne", long: LOG_LONG, numbers: true },
  show: LOG,
  "show-ref": { short: "hdsq", long: "head heads branches tags dereference hash? abbrev? quiet verify exists" },
  status: {
    short: "sbvz u?",
    long: "short branch show-stash porcelain? long verbose untracked-files? ignore-submodules? ignored? column? no-column renames no-renames find-renames?",
  },
  version: { short: "", long: "build-options" },
}

/** Subcommands that only read in some forms. */
const LISTING: Readonly<Record<string, OptionTable>> = {
  branch: {
    short: "arvlq",
    long: "list all remotes verbose show-current no-color color? column? no-column sort: points-at: format: merged? no-merged? contains? no-contains? abbrev: no-abbrev ignore-case",
  },
  tag: {
    short: "l n?",
    long: "list sort: format: points-at: merged? no-merged? contains? no-contains? column? no-column color? ignore-case",
  },
}

export function git(args: readonly ExpandedWord[], place: AnalysisContext): CommandEffects {
  const rest = [...args]
  let directory = place.directory
  for (let word = rest[0]; word?.text?.startsWith("-"); word = rest[0]) {
    rest.shift()
    if (
      [
        "--no-pager",
        "-P",
        "--no-optional-locks",
        "--literal-pathspecs",
        "--no-replace-objects",
        "--no-advice",
      ].includes(word.text)
    )
      continue
    if (word.text === "--version" || word.text === "-v")
      return rest.length === 0 ? readOnly() : unknownEffects("has words after --version")
    const value = rest.shift()
    if (word.text === "-C" && value?.text !== undefined && value.text !== "")
      directory = resolveIn(value.text, { ...place, directory })
    else if (word.text !== "-c" || !isHarmlessPair(value?.text))
      return unknownEffects(`has the option ${word.text}, which is not known to only read`)
  }
  const subcommand = rest.shift()
  if (subcommand?.text === undefined) return unknownEffects("has a subcommand that is only known when it runs")
  const at = { ...place, directory }
  const judged = judgeSubcommand(subcommand.text, rest, at)
  if (judged.state === "not understood" || subcommand.text === "version") return judged
  return checkRepository(judged, { place: at, call: "call" in judged ? judged.call : undefined })
}

/** Whether a `-c key=value` pair is harmless. It overrides the settings that keep git from starting programs. */
function isHarmlessPair(pair: string | undefined): boolean {
  const match = /^([^=]+)=(.*)$/s.exec(pair ?? "")
  if (!match) return false
  const parts = match[1]!.split(".")
  const key = (parts.length > 2 ? `${parts[0]}.*.${parts.at(-1)}` : match[1]!).toLowerCase()
  if (QUIETED_SETTINGS.has(key)) return QUIETED_SETTINGS.get(key) === match[2]
  return isHarmlessSetting({ key, value: match[2]! })
}

type GitEffects = CommandEffects | (Extract<CommandEffects, { state: "understood" }> & { readonly call: GitCommand })

function judgeSubcommand(name: string, args: readonly ExpandedWord[], place: AnalysisContext): GitEffects {
  const [first, ...rest] = args
  if (name === "stash")
    return first?.text === "list" || first?.text === "show"
      ? reads(`stash ${first.text}`, { table: LOG, args: rest, place })
      : unknownEffects("stash changes the stash")
  if (name === "reflog" && first?.text !== undefined && !/^(?:-|show$|HEAD)/.test(first.text))
    return unknownEffects("reflog can change the reflog")
  if (name === "remote") {
    const isShown = args.length === 0 || (args.length === 1 && /^(?:-v|--verbose)$/.test(first?.text ?? ""))
    const isAddress = first?.text === "get-url" && rest.every(({ text }) => text !== undefined)
    return isShown || isAddress ? readOnly() : unknownEffects("remote can change or call remotes")
  }
  if (name === "worktree" || name === "submodule") {
    const wanted = name === "worktree" ? /^list( --porcelain| -v)*$/ : /^status( --recursive)?$/
    return wanted.test(args.map(({ text }) => text ?? "?").join(" "))
      ? readOnly()
      : unknownEffects(`${name} can change the repository`)
  }
  if (name === "config") return config(args)
  if (Object.hasOwn(LISTING, name)) return listing(LISTING[name]!, args)
  if (!Object.hasOwn(SUBCOMMANDS, name)) return unknownEffects(`${name} can do more than read the repository`)
  return reads(name, { table: SUBCOMMANDS[name]!, args, place })
}

/** Analyzes subcommands that create a name unless a listing option is given. */
function listing(table: OptionTable, args: readonly ExpandedWord[]): CommandEffects {
  const taken = parseOptions(table, args)
  if (taken.state === "not understood") return unknownEffects(taken.why)
  if (startsMore(taken.options)) return unknownEffects(STARTS_MORE)
  const lists = hasOption(taken.options, "l", "list", "merged", "no-merged", "contains", "no-contains", "points-at")
  return taken.operands.length === 0 || lists ? readOnly() : unknownEffects("would create or change a name")
}

/** Analyzes `config`: only single values may be shown, because a complete list may contain tokens in addresses. */
function config(args: readonly ExpandedWord[]): CommandEffects {
  const words = args.map(({ text }) => text ?? "?").join(" ")
  const key = /^(?:--get |get )?((?:user|core|branch|pull|push|init|remote)\.[\w./-]+)$/.exec(words)?.[1]
  if (key === undefined) return unknownEffects("config can change the configuration")
  return QUIETED_SETTINGS.has(key.toLowerCase())
    ? unknownEffects("config shows another value where no one is asked")
    : readOnly()
}

const STARTS_MORE = "would check signatures or make a merge again"

/** Whether options start other programs or write: `%G?` and sorting by signatures start gpg, and `--diff-merges=remerge` writes objects. */
const startsMore = (options: readonly GivenOption[]): boolean =>
  options.some(({ name, value }) => {
    if (name === "pretty" || name === "format") return value && /%[-+ ]?G|%\(\*?signature/.test(value.text ?? "%G")
    if (name === "sort") return !/^(?!-?\*?signature)[\w:*=.-]+$/.test(value?.text ?? "")
    return (
      name === "diff-merges" &&
      !/^(?:off|none|on|m|first-parent|1|separate|combined|c|dense-combined|cc)$/.test(value?.text ?? "")
    )
  })

interface ReadInput {
  readonly table: OptionTable
  readonly args: readonly ExpandedWord[]
  readonly place: AnalysisContext
}

/** Analyzes a reading subcommand. Every operand may be a path; `git diff` also reads files outside a repository. */
function reads(subcommand: string, { table, args, place }: ReadInput): GitEffects {
  const taken = parseOptions(table, args)
  if (taken.state === "not understood") return unknownEffects(taken.why)
  const { options, operands, beforeDashes } = taken
  if (startsMore(options)) return unknownEffects(STARTS_MORE)
  const hasPattern = subcommand === "grep" && !hasOption(options, "e", "f", "and", "or")
  const paths = hasPattern ? operands.slice(1) : operands
  const uses: FileUse[] = [
    ...filesInOptions(options, place).reads,
    ...paths.flatMap((operand) => filesOf(operand, place)),
  ]
  const call = {
    subcommand,
    options,
    operands: paths,
    ...(beforeDashes === undefined ? {} : { beforeDashes: Math.max(0, beforeDashes - (hasPattern ? 1 : 0)) }),
  }
  return { ...(readOnly({ reads: uses }) as Extract<CommandEffects, { state: "understood" }>), call }
}

/** Checks the repository, whose configuration git obeys. */
function checkRepository(
  judged: CommandEffects,
  { place, call }: { readonly place: AnalysisContext; readonly call: GitCommand | undefined },
): CommandEffects {
  const { directory, disk, env } = place
  if (judged.state === "not understood") return judged
  if (directory === undefined)
    return place.hasSandbox ? judged : unknownEffects("runs in a directory that is not known")
  const set = Object.keys(env).find(
    (name) =>
      /^GIT_(?:DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE)$/.test(
        name,
      ) && env[name],
  )
  if (set !== undefined) return unknownEffects(`works on the repository that ${set} names`)
  const here = { ...judged, reads: [...judged.reads, { path: directory }] }
  if (!disk) return here
  const repository = findRepository(directory, disk)
  if (repository.state === "unknown") return unknownEffects("works on a repository that cannot be looked at")
  // outside a repository, `git diff` compares any two files or directories
  if (repository.state === "none") return { ...here, reads: here.reads.map((use) => ({ ...use, isTree: true })) }
  if (repository.danger !== undefined) return unknownEffects(`obeys its repository: ${repository.danger}`)
  return call ? { ...here, reads: [...here.reads, ...trackedReads(call, place, repository)] } : here
}

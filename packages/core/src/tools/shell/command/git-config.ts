/**
 * Does a repository make git run something by itself? `git status` starts what `core.fsmonitor` names, `git diff` what `diff.external`
 * names. Only keys known to be harmless pass. Your own configuration is not looked at: it is yours.
 */
import { dirname, join } from "node:path"
import type { Disk } from "./disk.ts"
import { entriesIn, type TrackedEntry } from "./git-index.ts"

const MOST_CONFIG_BYTES = 1_000_000
const MOST_INDEX_BYTES = 50_000_000
const MOST_REPOSITORIES = 100

export interface Repository {
  /** Where the files are. For a bare repository, the repository itself. */
  readonly top: string
  /** Where git keeps the list of tracked files. */
  readonly index: string
  /** Why git could run something here, or read elsewhere. */
  readonly danger?: string
}

export type Found =
  | { readonly state: "none" }
  | { readonly state: "unknown" }
  | ({ readonly state: "found" } & Repository)

/** Looks for a repository as git does: upwards from the directory, `.git` first, then the directory itself as a bare repository. */
export function findRepository(directory: string, disk: Disk): Found {
  for (let at = directory; ; at = dirname(at)) {
    const dotGit = join(at, ".git")
    const kind = disk.kindOf(dotGit)
    if (kind === "file") return inspected(at, linkedDirectory(dotGit, disk), disk)
    if (kind === "directory" && isRepository(dotGit, disk)) return inspected(at, disk.realPath(dotGit), disk)
    if (isRepository(at, disk)) return inspected(at, at, disk)
    if (disk.isExhausted) return { state: "unknown" }
    if (dirname(at) === at) return { state: "none" }
  }
}

function inspected(top: string, gitDirectory: string | undefined, disk: Disk): Found {
  const danger = dangerIn({ top, gitDirectory, disk, visited: new Set() })
  const index = join(gitDirectory ?? top, "index")
  return { state: "found", top, index, ...(danger === undefined ? {} : { danger }) }
}

function isRepository(path: string, disk: Disk): boolean {
  if (disk.kindOf(join(path, "HEAD")) === "missing") return false
  const common = commonDirectory(path, disk)
  return ["objects", "refs"].every((name) => disk.kindOf(join(common, name)) === "directory")
}

/** Where a `.git` file points. */
function linkedDirectory(dotGit: string, disk: Disk): string | undefined {
  const target = /^gitdir: (.+?)\s*$/.exec(disk.read(dotGit, MOST_CONFIG_BYTES)?.toString("utf8") ?? "")?.[1]
  return target === undefined
    ? undefined
    : disk.realPath(target.startsWith("/") ? target : join(dirname(dotGit), target))
}

interface Inspection {
  readonly top: string
  readonly gitDirectory: string | undefined
  readonly disk: Disk
  readonly visited: Set<string>
}

function dangerIn({ top, gitDirectory, disk, visited }: Inspection): string | undefined {
  if (gitDirectory === undefined) return "its .git file cannot be followed"
  if (visited.has(gitDirectory)) return undefined
  visited.add(gitDirectory)
  if (visited.size > MOST_REPOSITORIES) return "it has too many submodules to look at"
  const head = disk.read(join(gitDirectory, "HEAD"), MOST_CONFIG_BYTES)?.toString("utf8")
  if (!/^(?:ref:\s*refs\/|[0-9a-f]{40})/.test(head ?? ""))
    return "it has no valid HEAD, so git may use another repository above it"
  const common = commonDirectory(gitDirectory, disk)
  const isLinked = gitDirectory !== join(top, ".git") && gitDirectory !== top
  if (isLinked && !pointsBack(top, gitDirectory, disk)) return `its .git points to ${gitDirectory}`
  if (!isLinked && common !== gitDirectory) return `its .git takes its settings from ${common}`
  const files = [join(common, "config"), join(gitDirectory, "config.worktree")]
  for (const file of files) {
    if (disk.kindOf(file) === "missing") continue
    const text = disk.read(file, MOST_CONFIG_BYTES)?.toString("utf8")
    if (text === undefined) return `${file} cannot be read`
    const danger = dangerousSetting(text, { top, gitDirectory, disk })
    if (danger !== undefined) return `${file} sets ${danger}`
  }
  if (hasIndexHook(join(common, "hooks"), disk)) return "it has a post-index-change hook"
  return dangerInSubmodules({ top, gitDirectory, disk, visited })
}

function commonDirectory(gitDirectory: string, disk: Disk): string {
  const text = disk.read(join(gitDirectory, "commondir"), MOST_CONFIG_BYTES)?.toString("utf8").trim()
  if (!text) return gitDirectory
  return disk.realPath(text.startsWith("/") ? text : join(gitDirectory, text)) ?? gitDirectory
}

/** A worktree of git's own names its `.git` file, a submodule its worktree. A file that merely points at another repository does not. */
function pointsBack(top: string, gitDirectory: string, disk: Disk): boolean {
  const link = disk.read(join(gitDirectory, "gitdir"), MOST_CONFIG_BYTES)?.toString("utf8").trim()
  if (link)
    return disk.realPath(link.startsWith("/") ? link : join(gitDirectory, link)) === disk.realPath(join(top, ".git"))
  const config = disk.read(join(gitDirectory, "config"), MOST_CONFIG_BYTES)?.toString("utf8") ?? ""
  const worktree = settingsIn(config)?.find(({ key }) => key === "core.worktree")?.value
  return worktree !== undefined && disk.realPath(join(gitDirectory, worktree)) === disk.realPath(top)
}

/** `undefined`: it cannot be read. */
export function trackedIn(index: string, disk: Disk): readonly TrackedEntry[] | undefined {
  const bytes = disk.read(index, MOST_INDEX_BYTES)
  return bytes && entriesIn(bytes)
}

/** `git status` and `git diff` look into submodules, each with its own configuration. */
function dangerInSubmodules({ top, gitDirectory, disk, visited }: Inspection): string | undefined {
  const index = join(gitDirectory!, "index")
  if (disk.kindOf(index) === "missing") return undefined
  const entries = trackedIn(index, disk)
  if (!entries) return "its index cannot be read"
  for (const link of entries) {
    if (!link.isSubmodule) continue
    const path = disk.realPath(join(top, link.path))
    const dotGit = path && join(path, ".git")
    const kind = dotGit ? disk.kindOf(dotGit) : "missing"
    if (!path || !dotGit || kind === "missing") continue
    const inner = kind === "file" ? linkedDirectory(dotGit, disk) : dotGit
    const danger = dangerIn({ top: path, gitDirectory: inner, disk, visited })
    if (danger !== undefined) return danger
  }
  return undefined
}

/** Run by whatever refreshes the index: `git diff` does. */
const hasIndexHook = (hooks: string, disk: Disk): boolean => disk.kindOf(join(hooks, "post-index-change")) !== "missing"

interface Setting {
  readonly key: string
  readonly value: string
}

/** Keys in lower case, without the name in the middle: `remote.*.url`. `undefined`: a line that is not understood. */
function settingsIn(text: string): readonly Setting[] | undefined {
  const settings: Setting[] = []
  let section = ""
  for (const raw of text.split(/\r?\n/)) {
    let line = raw.trim()
    if (line.endsWith("\\")) return undefined // goes on in the next line, unless it is a comment
    const heading = /^\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]/.exec(line)
    if (heading) {
      const [name = "", ...old] = heading[1]!.toLowerCase().split(".")
      section = /"/.test(heading[0]) || old.length > 0 ? `${name}.*` : name
      line = line.slice(heading[0].length).trim()
    }
    if (line === "" || /^[#;]/.test(line)) continue
    const setting = /^([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/.exec(line)
    if (!setting || section === "") return undefined
    settings.push({ key: `${section}.${setting[1]!.toLowerCase()}`, value: unquoted(setting[2] ?? "true") })
  }
  return settings
}

const unquoted = (value: string): string =>
  value
    .replace(/\s*[#;][^"]*$/, "")
    .replace(/"/g, "")
    .trim()

const HARMLESS_KEYS = new Set(
  `core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode core.symlinks
  core.autocrlf core.eol core.safecrlf core.quotepath core.abbrev core.compression core.loosecompression core.untrackedcache
  core.preloadindex core.longpaths core.sparsecheckout core.sparsecheckoutcone core.sharedrepository core.protecthfs core.protectntfs
  core.hidedotfiles core.trustctime core.checkstat core.whitespace core.commentchar core.fscache core.multipackindex core.commitgraph
  core.bigfilethreshold core.deltabasecachelimit core.packedgitlimit core.packedgitwindowsize core.createobject
  remote.*.fetch remote.*.pushurl remote.*.push remote.*.tagopt remote.*.prune remote.*.prunetags remote.*.mirror remote.*.promisor
  remote.*.partialclonefilter remote.*.skipdefaultupdate remote.*.skipfetchall remote.*.gh-resolved remote.*.glab-resolved remote.pushdefault
  submodule.*.active submodule.*.url submodule.*.branch submodule.*.ignore submodule.*.fetchrecursesubmodules submodule.active
  submodule.recurse submodule.fetchjobs submodule.alternatelocation submodule.alternateerrorstrategy
  user.name user.email user.signingkey user.useconfigonly author.name author.email committer.name committer.email
  extensions.worktreeconfig extensions.partialclone extensions.refstorage extensions.preciousobjects
  diff.algorithm diff.renames diff.renamelimit diff.mnemonicprefix diff.noprefix diff.colormoved diff.colormovedws diff.context
  diff.interhunkcontext diff.indentheuristic diff.submodule diff.ignoresubmodules diff.statgraphwidth diff.suppressblankempty
  diff.wordregex diff.wserrorhighlight diff.relative diff.autorefreshindex diff.dirstat diff.*.xfuncname diff.*.funcname diff.*.binary
  diff.*.wordregex
  log.date log.decorate log.follow log.abbrevcommit log.graphcolors log.mailmap log.showroot log.diffmerges log.excludedecoration
  format.pretty format.signoff format.numbered init.defaultbranch rerere.enabled rerere.autoupdate merge.conflictstyle merge.ff merge.log
  merge.renames merge.renamelimit merge.stat merge.verbosity merge.directoryrenames commit.gpgsign commit.verbose commit.cleanup
  commit.status tag.gpgsign tag.sort gpg.format lfs.repositoryformatversion lfs.*.access blame.date blame.blankboundary blame.coloring
  blame.showemail blame.showroot grep.linenumber grep.extendedregexp grep.patterntype grep.column grep.fullname grep.threads
  http.postbuffer http.*.extraheader http.version http.lowspeedlimit http.lowspeedtime gc.auto gc.pruneexpire gc.reflogexpire
  gc.reflogexpireunreachable gc.worktreepruneexpire gc.autodetach gc.autopacklimit credential.username feature.manyfiles
  feature.experimental index.version index.threads index.sparse pack.threads pack.windowmemory pack.writereverseindex
  receive.denycurrentbranch receive.denynonfastforwards receive.fsckobjects transfer.fsckobjects fetch.fsckobjects uploadpack.allowfilter`.split(
    /\s+/,
  ),
)
/** Everything in these sections only says how text looks, or what pulling and pushing do by default. */
const HARMLESS_SECTIONS = new Set(
  "alias branch color column status pull push fetch rebase advice i18n maintenance versionsort worktree checkout stash".split(
    " ",
  ),
)
const LFS: Readonly<Record<string, string>> = {
  "filter.*.clean": "git-lfs clean -- %f",
  "filter.*.smudge": "git-lfs smudge -- %f",
  "filter.*.process": "git-lfs filter-process",
  "filter.*.required": "true",
}

export function isHarmlessSetting(key: string, value: string): boolean {
  const section = key.split(".")[0]!
  if (HARMLESS_KEYS.has(key)) return true
  if (key === "extensions.objectformat") return value === "sha1" // another one has another index
  if (value.includes("\\")) return HARMLESS_SECTIONS.has(section)
  if (key === "core.fsmonitor") return /^(?:true|false|yes|no|on|off|0|1|)$/i.test(value)
  if (key === "remote.*.url") return !/^[\w+-]+::/.test(value) // `ext::` runs a command
  if (key === "submodule.*.update") return !value.startsWith("!")
  if (LFS[key] !== undefined) return LFS[key] === value
  // an alias has no effect on git's own commands; checkout and stash run hooks only when they change something
  return HARMLESS_SECTIONS.has(section)
}

interface ConfigPlace {
  readonly top: string
  readonly gitDirectory: string
  readonly disk: Disk
}

function dangerousSetting(text: string, { top, gitDirectory, disk }: ConfigPlace): string | undefined {
  const settings = settingsIn(text)
  if (!settings) return "something that is not understood"
  return settings.find(({ key, value }) => {
    if (/^core\.(?:hookspath|worktree)$/.test(key) && value.includes("\\")) return true
    if (key === "core.hookspath")
      return hasIndexHook(value.startsWith("/") ? value : join(top, value), disk) || value.startsWith("~")
    if (key === "core.worktree") return disk.realPath(join(gitDirectory, value)) !== disk.realPath(top)
    return !isHarmlessSetting(key, value)
  })?.key
}

/**
 * Determines which settings of a repository are harmless for a reading command, by their names and the format of their values. All others
 * could make git start a program, send a request, or read elsewhere: filters, diff drivers, aliases, includes, partial clones.
 */

interface Setting {
  /** Lower-case key, with the subsection replaced: `remote.*.url`. */
  readonly key: string
  readonly value: string
}

const SECTION = /^\[([A-Za-z][A-Za-z0-9-]*)(?: "((?:[^"\\]|\\["\\])*)")?\]/
const VARIABLE = /^([A-Za-z][A-Za-z0-9-]*)(?:[ \t]*=[ \t]*(.*))?$/
/** A plain or completely quoted value. git also joins quoted parts, escapes and comments; such values are not supported. */
const VALUE = /^(?:[^"\\#;\t]*|"[^"\\\t]*")$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]/

/** Parses settings. `undefined` if a line is not understood. */
export function settingsIn(text: string): readonly Setting[] | undefined {
  if (CONTROL.test(text)) return undefined
  const settings: Setting[] = []
  let section: string | undefined
  for (const raw of text.split(/\r?\n/)) {
    let line = trimmed(raw)
    if (line.endsWith("\\") || line.includes("\r")) return undefined // it may continue on the next line
    const heading = SECTION.exec(line)
    if (heading) {
      section = `${heading[1]!.toLowerCase()}${heading[2] === undefined ? "" : ".*"}`
      line = trimmed(line.slice(heading[0].length))
    }
    if (line === "" || /^[#;]/.test(line)) continue
    const [, name, value = "true"] = VARIABLE.exec(line) ?? []
    if (name === undefined || section === undefined || !VALUE.test(value)) return undefined
    settings.push({ key: `${section}.${name.toLowerCase()}`, value: value.replace(/"/g, "") })
  }
  return settings
}

/** Trims spaces and tabs. Other white space belongs to the value. */
const trimmed = (line: string): string => line.replace(/^[ \t]+|[ \t]+$/g, "")

const BOOLEAN = /^(?:true|false|yes|no|on|off|0|1|)$/i
const NUMBER = /^-?\d{1,12}[kmg]?$/i
/** A keyword of git: `input`, `simple`, `2.weeks.ago`, `zebra,blank`. */
const WORD = /^[\w.,:+-]*$/
/** Text that is only displayed, or used by commands that change something. */
const TEXT = /^[^%]*$/
const DATE = /^[\w:. %/+-]*$/
const SORT = /^(?!-?\*?signature)-?[a-z:]+$/
const REFERENCES = /^[+^]?[\w./*@{}+#-]*(?::[\w./*@{}+#-]*)?$/
/** An address. Excludes `ext::` and similar, which start a program. */
const ADDRESS = /^(?!.*::)[\w.~@:/+ %=-]+$/

const shapes = (shape: RegExp, keys: string): readonly (readonly [string, RegExp])[] =>
  keys.split(/\s+/).map((key) => [key, shape] as const)

const HARMLESS: ReadonlyMap<string, RegExp> = new Map([
  ...shapes(
    BOOLEAN,
    `core.filemode core.bare core.ignorecase core.precomposeunicode core.symlinks core.quotepath core.preloadindex core.longpaths
    core.sparsecheckout core.sparsecheckoutcone core.protecthfs core.protectntfs core.trustctime core.fscache core.multipackindex
    core.commitgraph core.fsmonitor extensions.worktreeconfig extensions.relativeworktrees remote.*.prune remote.*.prunetags
    remote.*.mirror remote.*.skipdefaultupdate remote.*.skipfetchall submodule.*.active submodule.recurse user.useconfigonly
    diff.mnemonicprefix diff.noprefix diff.indentheuristic diff.suppressblankempty diff.relative diff.autorefreshindex diff.*.binary
    log.follow log.abbrevcommit log.mailmap log.showroot format.signoff rerere.enabled rerere.autoupdate commit.gpgsign commit.status
    tag.gpgsign tag.forcesignannotated lfs.*.locksverify blame.blankboundary blame.showemail blame.showroot grep.linenumber
    grep.extendedregexp grep.column grep.fullname http.sslverify feature.manyfiles feature.experimental index.sparse index.skiphash
    receive.denynonfastforwards receive.fsckobjects transfer.fsckobjects fetch.fsckobjects uploadpack.allowfilter gc.autodetach
    pack.writereverseindex status.short status.branch status.relativepaths status.showstash status.displaycommentprefix status.aheadbehind
    credential.usehttppath credential.*.usehttppath`,
  ),
  ...shapes(
    NUMBER,
    `core.compression core.loosecompression core.bigfilethreshold core.deltabasecachelimit core.packedgitlimit core.packedgitwindowsize
    submodule.fetchjobs diff.renamelimit diff.context diff.interhunkcontext diff.statgraphwidth merge.renamelimit merge.verbosity
    lfs.repositoryformatversion grep.threads http.postbuffer http.lowspeedlimit http.lowspeedtime gc.auto gc.autopacklimit index.version
    index.threads pack.threads pack.windowmemory status.renamelimit`,
  ),
  ...shapes(
    WORD,
    `core.logallrefupdates core.autocrlf core.eol core.safecrlf core.abbrev core.untrackedcache core.sharedrepository core.hidedotfiles
    core.checkstat core.whitespace core.createobject remote.*.tagopt remote.*.gh-resolved remote.*.glab-resolved submodule.*.ignore
    submodule.*.update submodule.*.fetchrecursesubmodules submodule.alternatelocation submodule.alternateerrorstrategy diff.algorithm
    diff.renames diff.colormoved diff.colormovedws diff.ignoresubmodules diff.submodule diff.wserrorhighlight diff.dirstat log.decorate
    log.graphcolors format.pretty format.numbered init.defaultbranch merge.conflictstyle merge.ff merge.log merge.renames merge.stat
    merge.directoryrenames merge.tool commit.verbose commit.cleanup gpg.format lfs.*.access blame.coloring grep.patterntype http.version
    gc.pruneexpire gc.reflogexpire gc.reflogexpireunreachable gc.worktreepruneexpire receive.denycurrentbranch status.showuntrackedfiles
    status.renames credential.*.provider`,
  ),
  ...shapes(/^[01]$/, "core.repositoryformatversion"),
  ...shapes(/^.?$|^auto$/, "core.commentchar"),
  ...shapes(/^sha1$/, "extensions.objectformat"), // other formats have a different index
  ...shapes(/^(?!r(?:emerge)?$)[\w-]+$/, "log.diffmerges"), // `remerge` repeats the merge and writes objects
  ...shapes(DATE, "log.date blame.date"),
  ...shapes(SORT, "branch.sort tag.sort"),
  ...shapes(
    REFERENCES,
    "remote.*.fetch remote.*.push remote.pushdefault submodule.*.branch submodule.active log.excludedecoration",
  ),
  ...shapes(ADDRESS, "remote.*.url remote.*.pushurl submodule.*.url"),
  ...shapes(
    TEXT,
    `user.name user.email user.signingkey author.name author.email committer.name committer.email http.*.extraheader credential.username
    credential.*.username`,
  ),
])

/** Sections that are harmless as a whole: display of text, defaults of pull and push, and data of other tools. */
const HARMLESS_SECTIONS: ReadonlyMap<string, RegExp> = new Map([
  ...shapes(BOOLEAN, "advice"),
  ...shapes(/^[\w #,.-]*$/, "color column"),
  ...shapes(WORD, "pull push fetch rebase i18n maintenance versionsort worktree checkout stash"),
  ...shapes(TEXT, "branch gitflow gui"),
])

export function isHarmlessSetting({ key, value }: Setting): boolean {
  const shape = HARMLESS.get(key) ?? HARMLESS_SECTIONS.get(key.split(".")[0]!)
  return shape?.test(value) ?? false
}

/** Repositories with settings that make git run, read, write or fetch something, and with settings that only look harmless. */
import type { Random } from "./random.ts"
import type { World } from "./world.ts"

export interface HostileRepository {
  /** Configuration text after the section `[core]`. */
  readonly config: string
  readonly attributes: string
  readonly hooks: readonly string[]
}

const PROGRAMS = ["./evil.sh", "../../evil.sh", "!./evil.sh", "sh ./evil.sh", "evil.sh", "./evil.sh #"]
const PATHS = [
  "evilhooks",
  "./evilhooks",
  "%(prefix)/../proc/self/cwd/evilhooks",
  "/proc/self/cwd/evilhooks",
  "../../evilhooks",
  "~/../project/evilhooks",
]
const SWITCHES = ["true", "false", "1", "always", ""]

/** Settings by the kind of their value: a program, a directory with programs, a file, an address, a switch. */
const KEYS: Readonly<Record<string, string>> = {
  program: `core.fsmonitor core.pager core.sshCommand core.gitProxy core.askPass core.editor core.alternateRefsCommand pager.log pager.diff
    pager.status pager.show pager.branch pager.tag pager.config diff.external diff.evil.command diff.evil.textconv filter.evil.clean
    filter.evil.smudge filter.evil.process merge.evil.driver gpg.program gpg.ssh.program gpg.x509.program gpg.openpgp.program
    credential.helper alias.status alias.log alias.diff alias.show alias.whatchanged alias.shortlog alias.ls alias.describe alias.blame
    sequence.editor interactive.diffFilter trailer.x.command trailer.x.cmd remote.origin.uploadpack remote.origin.receivepack
    uploadpack.packObjectsHook submodule.x.update web.browser browser.x.cmd man.x.cmd difftool.x.cmd mergetool.x.cmd diff.guitool
    log.format format.pretty pretty.x column.ui help.autocorrect core.hooksPathX hook.x.command`,
  path: "core.hooksPath core.worktree init.templateDir core.gitDir core.attributesFileX",
  file: `include.path includeIf.gitdir:**.path core.attributesFile core.excludesFile blame.ignoreRevsFile mailmap.file commit.template
    core.notesRef trace2.normalTarget trace2.eventTarget diff.orderFile core.sparseCheckoutX gpg.ssh.allowedSignersFile`,
  address: `remote.origin.url remote.origin.proxy http.proxy url.x.insteadOf remote.origin.vcs remote.origin.pushurl submodule.x.url
    bundle.x.uri fetch.bundleURI`,
  switch: `core.repositoryFormatVersion core.bare core.fsmonitor core.untrackedCache core.splitIndex core.symlinks core.sharedRepository
    core.sparseCheckout log.showSignature log.mailmap log.follow status.submoduleSummary diff.submodule diff.ignoreSubmodules
    diff.autoRefreshIndex diff.evil.cachetextconv diff.evil.binary filter.evil.required extensions.partialClone extensions.worktreeConfig
    remote.origin.promisor protocol.ext.allow gc.auto maintenance.auto submodule.recurse submodule.x.active fetch.writeCommitGraph
    index.skipHash core.commitGraph core.logAllRefUpdates rerere.enabled feature.manyFiles advice.statusHints color.ui tag.gpgSign
    blame.coloring grep.fallbackToNoIndex grep.submodules branch.x.merge status.showStash safe.bareRepository`,
}
const ATTRIBUTES = [
  "* diff=evil",
  "* filter=evil",
  "* diff=evil filter=evil",
  "*.ts -text diff=evil",
  "* text=auto eol=lf",
  "* merge=evil",
  "",
]
const HOOKS = ["post-index-change", "post-checkout", "pre-commit", "fsmonitor-watchman", "reference-transaction"]

export function hostileConfigs(
  random: Random,
  { count, outside, port }: World & { readonly count: number },
): readonly HostileRepository[] {
  const valuesOf: Readonly<Record<string, readonly string[]>> = {
    program: PROGRAMS,
    path: [...PATHS, ".", "..", outside],
    file: ["included", "../included", `${outside}/f`, `${outside}/written`, "~/.bashrc"],
    address: [`http://127.0.0.1:${port}/x`, "ext::sh ./evil.sh", "./evil.sh", `${outside}`],
    switch: SWITCHES,
  }
  const setting = (): string => {
    const kind = random.pick(["program", "program", "path", "file", "address", "switch", "switch"])
    const key = random.pick(KEYS[kind]!.split(/\s+/).filter(Boolean))
    const [section, ...rest] = key.split(".")
    const name = rest.pop()!
    const value = random.pick(valuesOf[kind]!)
    const quoted = random.chance(0.1) ? value : `"${value}"`
    return `[${section}${rest.length > 0 ? ` "${rest.join(".")}"` : ""}]\n\t${name} = ${quoted}\n`
  }
  return Array.from({ length: count }, () => ({
    config: Array.from({ length: 1 + random.below(3) }, setting).join(""),
    attributes: `${random.pick(ATTRIBUTES)}\n`,
    hooks: random.chance(0.25) ? [random.pick(HOOKS)] : [],
  }))
}

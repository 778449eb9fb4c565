/**
 * Keeps git from starting anything but itself, in commands that no one was asked about. The environment does it: it wins over what a
 * repository configures, reaches git in submodules, and needs no change of the command line. Options of the line (`-c`) win over it, so the
 * judge of commands lets none of these settings pass there.
 */

/** Settings that win over those of the repository. */
const SETTINGS: Readonly<Record<string, string>> = {
  "core.hooksPath": "/dev/null", // `git diff` and `git describe --dirty` run the hook post-index-change
  "core.fsmonitor": "false",
  "diff.autoRefreshIndex": "false", // `git diff` writes the index, whatever GIT_OPTIONAL_LOCKS says
  "core.pager": "cat",
  "core.editor": "false",
  "core.askPass": "false",
  "core.sshCommand": "false",
  "core.gitProxy": "false",
  "core.alternateRefsCommand": "false",
  "credential.helper": "", // empty: forget the helpers named before
  "gpg.program": "false", // `%G?` in a format checks signatures
  "gpg.openpgp.program": "false",
  "gpg.x509.program": "false",
  "gpg.ssh.program": "false",
  "interactive.diffFilter": "cat",
  "protocol.allow": "never",
  "safe.bareRepository": "explicit", // a directory of the clone that looks like a repository is not one
  "submodule.recurse": "false",
  "maintenance.auto": "false",
  "gc.auto": "0",
}

const VARIABLES: Readonly<Record<string, string>> = {
  GIT_ALLOW_PROTOCOL: "none", // also wins over `protocol.<name>.allow`
  GIT_ASKPASS: "false",
  GIT_EDITOR: "false",
  GIT_NO_LAZY_FETCH: "1", // a partial clone would fetch what is missing
  GIT_OPTIONAL_LOCKS: "0",
  GIT_PAGER: "cat",
  GIT_SSH_COMMAND: "false",
  GIT_TERMINAL_PROMPT: "0",
}

/** Values by keys in lower case. What `git config` shows of these is not what the repository or the person set. */
export const QUIETED_SETTINGS: ReadonlyMap<string, string> = new Map(
  Object.entries(SETTINGS).map(([key, value]) => [key.toLowerCase(), value]),
)

type Environment = Readonly<Record<string, string | undefined>>

/** The environment without any variable of git's own (`GIT_DIR`, `GIT_EXTERNAL_DIFF`, `GIT_TRACE`), and with those that keep git quiet. */
export function quietGit(env: Environment = {}): Readonly<Record<string, string>> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || /^GIT_/i.test(name) ? [] : [[name, value] as const],
  )
  const settings = Object.entries(SETTINGS).flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key] as const,
    [`GIT_CONFIG_VALUE_${at}`, value] as const,
  ])
  return {
    ...Object.fromEntries([...kept, ...settings]),
    ...VARIABLES,
    GIT_CONFIG_COUNT: String(Object.keys(SETTINGS).length),
  }
}

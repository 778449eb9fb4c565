/**
 * Prevents git from starting other programs in unapproved commands. This uses the environment, which overrides the repository's
 * configuration, applies to submodules, and needs no change of the command line. Options on the line (`-c`) override it, so the command
 * analysis rejects these settings there.
 */

/** Settings that override those of the repository. */
const SETTINGS: Readonly<Record<string, string>> = {
  "core.hooksPath": "/dev/null", // `git diff` and `git describe --dirty` run the hook post-index-change
  "core.fsmonitor": "false",
  "diff.autoRefreshIndex": "false", // `git diff` writes the index regardless of GIT_OPTIONAL_LOCKS
  "core.pager": "cat",
  "core.editor": "false",
  "core.askPass": "false",
  "core.sshCommand": "false",
  "core.gitProxy": "false",
  "core.alternateRefsCommand": "false",
  "credential.helper": "", // empty: discards previously configured helpers
  "gpg.program": "false", // `%G?` in a format checks signatures
  "gpg.openpgp.program": "false",
  "gpg.x509.program": "false",
  "gpg.ssh.program": "false",
  "interactive.diffFilter": "cat",
  "protocol.allow": "never",
  "safe.bareRepository": "explicit", // prevents directories in the clone from being used as repositories
  "submodule.recurse": "false",
  "maintenance.auto": "false",
  "gc.auto": "0",
}

const VARIABLES: Readonly<Record<string, string>> = {
  GIT_ALLOW_PROTOCOL: "none", // also overrides `protocol.<name>.allow`
  GIT_ASKPASS: "false",
  GIT_EDITOR: "false",
  GIT_NO_LAZY_FETCH: "1", // prevents a partial clone from fetching missing objects
  GIT_OPTIONAL_LOCKS: "0",
  GIT_PAGER: "cat",
  GIT_SSH_COMMAND: "false",
  GIT_TERMINAL_PROMPT: "0",
}

/** Overriding values by lower-case key. For these keys, `git config` does not show the value of the repository or the user. */
export const QUIETED_SETTINGS: ReadonlyMap<string, string> = new Map(
  Object.entries(SETTINGS).map(([key, value]) => [key.toLowerCase(), value]),
)

type Environment = Readonly<Record<string, string | undefined>>

/** The environment without git's variables (`GIT_DIR`, `GIT_EXTERNAL_DIFF`, `GIT_TRACE`), and with the overriding settings. */
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

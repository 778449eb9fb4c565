/** The settings of a project, and whether a person trusted what its files would run or widen. */
import { changeSettings } from "./change-settings.ts"
import type { ClaudeDecision } from "./claude-home.ts"
import { readSettings, type SettingsInput, type SettingsSnapshot } from "./settings.ts"
import { describeUntrusted, grantTrust, readTrustState, type Trust } from "./trust.ts"

/** Everything that settings say for a project, read once: what a person is asked about is what counts afterwards. */
export interface ProjectSettings extends SettingsSnapshot {
  /** Whether a person trusted exactly these contents. */
  trust(): Promise<Trust>
  /** Trusts exactly these contents from now on. Call it only after a person said yes. */
  grantTrust(): Promise<void>
  /** Keeps what the person decided about their settings for Claude Code: `use` or `ignore`. Call it only after they said so. */
  decideClaude(decision: ClaudeDecision): Promise<void>
  /** A sentence for each part that does not count without trust. */
  readonly untrusted: readonly string[]
}

export interface SettingsLocation {
  readonly root: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly settings?: SettingsInput
}

export async function readWithTrust({ root, cwd, env, settings }: SettingsLocation): Promise<ProjectSettings> {
  const reading = await readSettings({ home: root, cwd, env, ...(settings ? { code: settings } : {}) })
  return {
    ...reading,
    untrusted: describeUntrusted(reading.items),
    trust: () => readTrustState(root, reading),
    grantTrust: () => grantTrust(root, reading),
    decideClaude: async (value) => {
      const { directory } = reading.claude ?? {}
      if (directory) await changeSettings(root, { key: "claudeHome", name: directory, value })
    },
  }
}

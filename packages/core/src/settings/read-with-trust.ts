/** The settings of a project, and whether the user trusts what its files would run or allow. */
import { changeSettings } from "./change-settings.ts"
import type { ClaudeDecision } from "./claude-home.ts"
import { readSettings, type SettingsInput, type SettingsSnapshot } from "./settings.ts"
import { describeUntrusted, grantTrust, readTrustState, type Trust } from "./trust.ts"

/** All settings of a project, read once: what the user approves is exactly what takes effect. */
export interface ProjectSettings extends SettingsSnapshot {
  /** Whether the user has trusted exactly these contents. */
  trust(): Promise<Trust>
  /** Trusts exactly these contents from now on. Call it only after the user has agreed. */
  grantTrust(): Promise<void>
  /** Stores the user's decision about their settings for Claude Code: `use` or `ignore`. Call it only after they have decided. */
  decideClaude(decision: ClaudeDecision): Promise<void>
  /** One sentence for each item that does not apply without trust. */
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

/** Decides at opening whether to apply project settings that run programs or widen permissions. */
import type { Clock } from "../../base/clock.ts"
import { errorReason } from "../../base/errors.ts"
import { escapeInvisible } from "../../base/text.ts"
import {
  type EffectiveSettings,
  readSettings,
  type SettingsSnapshot,
  type SettingsSources,
} from "../../settings/settings.ts"
import { describeUntrusted, grantTrust, readTrustState } from "../../settings/trust.ts"
import type { SingleAgentOptions } from "../options.ts"

export interface TrustOptions {
  readonly trustProject: SingleAgentOptions["trustProject"]
  readonly clock: Clock
}

export interface TrustedSettings {
  readonly settings: EffectiveSettings
  /** Sentences about settings that are not applied, with the reason. */
  readonly problems: readonly string[]
}

export async function loadTrusted(sources: SettingsSources, options: TrustOptions): Promise<TrustedSettings> {
  const reading = await readSettings(sources)
  if (reading.items.length === 0) return { settings: reading.settings({ trusted: true }), problems: [] }
  const { trusted, problems } = await decide(reading, { home: sources.home, ...options })
  if (trusted) return { settings: reading.settings({ trusted: true }), problems }
  const hint = `To use the omitted settings, review them with "strata trust ${escapeInvisible(reading.directory)}", or open the agent with trustProject.`
  return {
    settings: reading.settings({ trusted: false }),
    problems: [...problems, ...describeUntrusted(reading.items), hint],
  }
}

interface TrustDecision {
  readonly trusted: boolean
  readonly problems: readonly string[]
}

async function decide(
  reading: SettingsSnapshot,
  { home, trustProject, clock }: TrustOptions & Pick<SettingsSources, "home">,
): Promise<TrustDecision> {
  if (typeof trustProject === "boolean") return { trusted: trustProject, problems: [] }
  const trust = await readTrustState(home, reading)
  if (trust.state !== "untrusted") return { trusted: true, problems: [] }
  const problems = trust.problem === undefined ? [] : [trust.problem]
  if (!trustProject || (await trustProject(reading.items)) !== true) return { trusted: false, problems }
  try {
    await grantTrust(home, reading, clock)
    return { trusted: true, problems: [] }
  } catch (error) {
    const kept = `The project is trusted for now, but this could not be saved in ${home} (${errorReason(error)}).`
    return { trusted: true, problems: [kept] }
  }
}

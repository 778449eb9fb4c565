/** Decides, when an agent opens, whether what the project's settings would run or widen counts. */
import type { Clock } from "../../base/clock.ts"
import { reasonOf } from "../../base/errors.ts"
import { escaped } from "../../base/text.ts"
import {
  type EffectiveSettings,
  readSettings,
  type SettingsReading,
  type SettingsSources,
} from "../../settings/settings.ts"
import { grantTrust, leftOutSentences, trustOf } from "../../settings/trust.ts"
import type { SingleAgentOptions } from "../options.ts"

export interface TrustOptions {
  readonly trustProject: SingleAgentOptions["trustProject"]
  readonly clock: Clock
}

export interface TrustedSettings {
  readonly settings: EffectiveSettings
  /** What does not count, and why: a sentence each. */
  readonly problems: readonly string[]
}

export async function loadTrusted(sources: SettingsSources, options: TrustOptions): Promise<TrustedSettings> {
  const reading = await readSettings(sources)
  if (reading.parts.length === 0) return { settings: reading.settings({ trusted: true }), problems: [] }
  const { trusted, problems } = await decide(reading, { home: sources.home, ...options })
  if (trusted) return { settings: reading.settings({ trusted: true }), problems }
  const hint = `To use what was left out, look at it with "strata trust ${escaped(reading.directory)}", or open the agent with trustProject.`
  return {
    settings: reading.settings({ trusted: false }),
    problems: [...problems, ...leftOutSentences(reading.parts), hint],
  }
}

interface Decision {
  readonly trusted: boolean
  readonly problems: readonly string[]
}

async function decide(
  reading: SettingsReading,
  { home, trustProject, clock }: TrustOptions & Pick<SettingsSources, "home">,
): Promise<Decision> {
  if (typeof trustProject === "boolean") return { trusted: trustProject, problems: [] }
  const trust = await trustOf(home, reading)
  if (trust.state !== "untrusted") return { trusted: true, problems: [] }
  const problems = trust.problem === undefined ? [] : [trust.problem]
  if (!trustProject || (await trustProject(reading.parts)) !== true) return { trusted: false, problems }
  try {
    await grantTrust(home, reading, clock)
    return { trusted: true, problems: [] }
  } catch (error) {
    const kept = `The project is trusted for now, but this could not be kept in ${home} (${reasonOf(error)}).`
    return { trusted: true, problems: [kept] }
  }
}

/**
 * Whether the user's settings for Claude Code apply. The user is asked once per folder, and the decision is stored in their own settings.
 */
import { type ClaudeDecision, type ClaudeLayer, claudeDirectory, readClaudeHome } from "./claude-home.ts"
import { asRecord } from "./claude-settings.ts"
import type { OutputStyle } from "./output-style.ts"
import { listTrustItems, type TrustItem } from "./trust-items.ts"

/** The user's settings for Claude Code, for asking about them and for listing them. */
export interface ClaudeOffer {
  /** The folder, with links resolved. */
  readonly directory: string
  /** Absent if the user has not been asked. */
  readonly decision?: ClaudeDecision
  /** What applies after consent, without the values of variables. */
  readonly items: readonly TrustItem[]
  /** Rules that deny or ask, which always apply. */
  readonly restricting: readonly TrustItem[]
  /** One sentence about settings without a counterpart in Strata. */
  readonly unused?: string
}

export interface ClaudeConsent {
  readonly layers: readonly ClaudeLayer[]
  readonly environment?: Readonly<Record<string, string>>
  readonly outputStyle?: OutputStyle
  readonly problems: readonly string[]
  readonly offer?: ClaudeOffer
}

export interface ConsentLocation {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly repository: string
  readonly managed?: string
}

/** `own` is the content of the user's settings file. */
export async function readClaudeConsent(place: ConsentLocation, own: unknown): Promise<ClaudeConsent> {
  const decision = parseDecision(asRecord(asRecord(own).claudeHome)[claudeDirectory(place)])
  const found = await readClaudeHome(place, decision)
  const { directory, restricting, offered, environment, outputStyle, unused, problems } = found
  const parts = [
    ...offered.flatMap(({ source, values }) => listTrustItems(source, values)),
    ...Object.keys(environment).map((name) => variableTrustItem(name, directory)),
    ...(outputStyle ? [styleTrustItem(outputStyle)] : []),
  ]
  const rules = restricting.flatMap(({ source, values: { permissions = {} } }) =>
    (["ask", "deny"] as const).flatMap((list) =>
      (permissions[list] ?? []).map((rule) => ({ kind: "setting" as const, name: `${list} rule`, what: rule, source })),
    ),
  )
  const offer = {
    directory,
    items: parts,
    restricting: rules,
    ...(decision === undefined ? {} : { decision }),
    ...(unused === undefined ? {} : { unused }),
  }
  const isThere = parts.length + rules.length > 0 || unused !== undefined
  const always = { problems, ...(isThere ? { offer } : {}) }
  if (decision !== "use") return { layers: restricting, ...always }
  return {
    layers: [...restricting, ...offered],
    environment,
    ...(outputStyle ? { outputStyle } : {}),
    ...always,
  }
}

const parseDecision = (given: unknown): ClaudeDecision | undefined =>
  given === "use" || given === "ignore" ? given : undefined

const variableTrustItem = (name: string, directory: string): TrustItem => ({
  kind: "variable",
  name,
  what: "(hidden)",
  source: `${directory}/settings.json`,
})

const styleTrustItem = ({ name, text, source }: OutputStyle): TrustItem => ({
  kind: "output style",
  name,
  what: text,
  source,
})

/**
 * Step 4, check. The audit: a summary is checked, without a model, against the messages it replaces. It finds what the view after the
 * boundary would not show any more, and what the summary claims without ground. Pure: equal input gives an equal report.
 */
import { atOnce, type Steps } from "../../../base/in-slices.ts"
import type { AuditFigures, Share } from "../../../journal/entries.ts"
import { approvalClaims, quoteClaims } from "./attributed.ts"
import { CLAIM_CLASSES, type Claim, partSteps } from "./claim.ts"
import { type CoverageInput, coverageSteps, FACT_CLASSES, type Fact } from "./coverage.ts"
import { nameSteps, numberClaims } from "./exact.ts"
import { outcomeClaims, type Work } from "./outcomes.ts"
import { peopleClaims } from "./people.ts"
import { prohibitionSteps } from "./prohibitions.ts"
import type { Source } from "./source.ts"
import { tokensOf } from "./text.ts"
import { settle } from "./unreadable.ts"
import { wordingSteps } from "./wording.ts"

export interface AuditInput extends Omit<CoverageInput, "visible"> {
  readonly summary: string
  /** What follows the summary: the record, and the messages that stay. */
  readonly following: string
}

export interface Audit {
  /** Those that could be checked. */
  readonly claims: readonly Claim[]
  /** Names and numbers that may stem from what cannot be read. */
  readonly unchecked: readonly Claim[]
  readonly facts: readonly Fact[]
  readonly figures: Omit<AuditFigures, "struck" | "unchecked" | "added">
}

export const audit = (input: AuditInput): Audit => atOnce(auditSteps(input))

/** The same in steps, because a long summary of a long conversation takes a while. */
export function* auditSteps({ summary, following, ...input }: AuditInput): Steps<Audit> {
  const { artifacts, frontier } = input.record
  const work = { commands: artifacts.commands, todos: frontier.todos }
  const found = yield* claimSteps({ summary, source: input.source, work })
  const { claims, unchecked } = settle(found, summary, input.source.unreadable)
  const facts = yield* coverageSteps({ ...input, visible: `${summary}\n${following}` })
  return { claims, unchecked, facts, figures: figuresOf(claims, facts) }
}

function figuresOf(claims: readonly Claim[], facts: readonly Fact[]): Audit["figures"] {
  const covered = facts.filter(({ isCovered }) => isCovered).length
  const unsupported = claims.filter(({ isSupported }) => !isSupported).length
  return {
    coverage: facts.length === 0 ? 1 : rounded(covered / facts.length),
    fabrication: claims.length === 0 ? 0 : rounded(unsupported / claims.length),
    perClass: {
      coverage: perClass(FACT_CLASSES, facts, ({ isCovered }) => isCovered),
      fabrication: perClass(CLAIM_CLASSES, claims, ({ isSupported }) => !isSupported),
    },
  }
}

/** For each class that occurs: how many, and of how many. */
function perClass<K extends string, T extends { readonly class: K }>(
  classes: readonly K[],
  items: readonly T[],
  counts: (item: T) => boolean,
): Readonly<Record<string, Share>> {
  return Object.fromEntries(
    classes.flatMap((kind) => {
      const own = items.filter((item) => item.class === kind)
      return own.length === 0 ? [] : [[kind, { found: own.filter(counts).length, of: own.length }]]
    }),
  )
}

const rounded = (share: number) => Math.round(share * 1_000) / 1_000

interface ToCheck {
  readonly summary: string
  readonly source: Source
  readonly work: Work
}

function* claimSteps({ summary, source, work }: ToCheck): Steps<readonly Claim[]> {
  const parts = yield* partSteps(summary)
  // a quoted line that is in the conversation claims nothing of its own
  const own = parts.filter(({ isQuoted, line }) => !isQuoted || !source.index.has(tokensOf(line.text)))
  yield
  const claims: Claim[] = []
  const each = [() => quoteClaims(own, source), () => approvalClaims(own, source), () => outcomeClaims(own, work)]
  for (const find of each) {
    claims.push(...find())
    yield
  }
  claims.push(...(yield* prohibitionSteps(parts, source)))
  claims.push(...(yield* wordingSteps(parts, source)))
  claims.push(...(yield* nameSteps(parts, source)))
  for (const part of parts) {
    claims.push(...numberClaims(part, source), ...peopleClaims(part, source))
    yield
  }
  return claims
}

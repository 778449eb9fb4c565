/** `strata run --team`: this process is one of several on the same directory. After its answer it waits for messages of the others. */
import { isSafeId } from "@strata/core"
import { TEAM_WAIT_MINUTES, type Team, type TeamJoinOptions } from "@strata/core/agent"
import { internalsOf } from "@strata/core/conversation"
import type { Mailbox } from "@strata/core/store"
import { type Options, UsageError, type Values } from "../command.ts"
import { pluralize } from "../display/numbers.ts"
import type { SessionAgent } from "../session.ts"

const DEFAULT_WAIT_SECONDS = 60 // seconds, because the user starts the other process manually
const POLL_MS = 500 // between two checks of the team's members

export const TEAM_OPTIONS = {
  team: { kind: "text", value: "NAME", about: "work with other processes on this directory, in a team of this name" },
  as: { kind: "text", value: "MEMBER", about: "the name of this process in the team" },
  "team-wait": {
    kind: "number",
    value: "SECONDS",
    min: 0,
    max: 86_400,
    about: `how long to wait for another process to join, after the answer (default ${DEFAULT_WAIT_SECONDS})`,
  },
} as const satisfies Options

export interface TeamWork {
  readonly place: TeamJoinOptions
  readonly waitMs: number
}

/** The team of the command line, or `undefined`. */
export function teamFrom(
  values: Values<typeof TEAM_OPTIONS> & { readonly "no-agents": boolean },
): TeamWork | undefined {
  const { team: name, as, "team-wait": seconds = DEFAULT_WAIT_SECONDS } = values
  if (name === undefined && as === undefined) return undefined
  if (name === undefined || as === undefined)
    throw new UsageError("A team needs both names: --team NAME and --as MEMBER.")
  if (values["no-agents"]) throw new UsageError("--no-agents works alone, and --team with others. Use one of them.")
  for (const one of [name, as])
    if (!isSafeId(one)) throw new UsageError(`"${one}" cannot be a name here. Use letters, digits, "-" and "_".`)
  return { place: { name, as }, waitMs: 1_000 * seconds }
}

export interface TeamWaitOptions extends TeamWork {
  readonly agent: SessionAgent
  readonly signal: AbortSignal
  /** Shows a notice to the user. */
  readonly notice: (text: string) => void
}

/** Waits for the other processes of a team. */
export class TeamWait {
  readonly #parts: TeamWaitOptions
  #hadOthers = false

  constructor(parts: TeamWaitOptions) {
    this.#parts = parts
  }

  /**
   * Resolves with whether a message arrived. Waits until another process has joined, and then until all others have left or are waiting
   * too.
   */
  async messageCame(): Promise<boolean> {
    const { agent, place, signal, notice } = this.#parts
    if (!agent.team) return false
    const { mail } = agent.team
    const mailbox = internalsOf(agent.conversation).teamMailbox(place.name)
    try {
      this.#hadOthers ||= await this.#othersJoined({ mail, mailbox })
      if (this.#hadOthers && !mail.hasAny) await this.#whileOthersWork({ mail, mailbox })
      if (!mail.hasAny) for (const text of mail.notices()) notice(text)
      return !signal.aborted && mail.hasAny
    } finally {
      await mailbox.close()
    }
  }

  async #othersJoined({ mail, mailbox }: TeamMail): Promise<boolean> {
    const { place, waitMs, signal, notice } = this.#parts
    const either = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
    const seconds = pluralize(waitMs / 1_000, "second")
    for (let isAnnounced = waitMs === 0; ; isAnnounced = true) {
      if ((await mailbox.members()).some(({ name }) => name !== place.as)) return true
      if (mail.hasAny || either.aborted) break
      if (!isAnnounced)
        notice(
          `No other process has joined the team ${place.name} yet. Waiting up to ${seconds} for one (--team-wait). Ctrl-C ends the wait.`,
        )
      await nextChange({ mail, mailbox, signal: either })
    }
    if (!mail.hasAny && !signal.aborted && waitMs > 0)
      notice(
        `No other process joined the team ${place.name} in ${seconds}, so this one ends. --team-wait SECONDS waits longer.`,
      )
    return false
  }

  /** Stays for two checks, so that others notice this process before it leaves. Otherwise they would wait for someone to join. */
  async #whileOthersWork({ mail, mailbox }: TeamMail): Promise<void> {
    const { signal } = this.#parts
    const until = performance.now() + TEAM_WAIT_MINUTES * 60_000
    for (let looks = 0; looks < 2; looks++) {
      if ((await mail.whenAny(signal)) || signal.aborted || performance.now() >= until) return
      await nextChange({ mail, mailbox, signal })
    }
  }
}

interface TeamMail {
  readonly mail: Team["mail"]
  readonly mailbox: Mailbox
}

/** Resolves when something may have changed, or after a short interval. */
async function nextChange({ mail, mailbox, signal }: TeamMail & { readonly signal: AbortSignal }): Promise<void> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal, AbortSignal.timeout(POLL_MS)])
  await Promise.race([mail.nextChange(either), mailbox.change(either)])
  over.abort()
}

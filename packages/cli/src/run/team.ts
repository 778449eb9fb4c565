/** `strata run --team`: this process is one of several on the same directory. After its answer it waits for what the others send. */
import { isSafeId, type TeamPlace } from "@strata/core"
import { type Options, UsageError, type Values } from "../command.ts"
import type { SessionAgent } from "../session.ts"

const USUAL_WAIT = 60 // seconds: another process needs some for its own work
const LOOK_MS = 500 // between two looks at who is in the team

export const TEAM_OPTIONS = {
  team: { kind: "text", value: "NAME", about: "work with other processes on this directory, in a team of this name" },
  as: { kind: "text", value: "MEMBER", about: "the name of this process in the team" },
  "team-wait": {
    kind: "number",
    value: "SECONDS",
    least: 0,
    most: 86_400,
    about: `how long to wait for messages after the answer (default ${USUAL_WAIT})`,
  },
} as const satisfies Options

export interface TeamWork {
  readonly place: TeamPlace
  readonly waitMs: number
}

/** `undefined` where the command line names no team. */
export function teamFrom(
  values: Values<typeof TEAM_OPTIONS> & { readonly "no-agents": boolean },
): TeamWork | undefined {
  const { team: name, as, "team-wait": seconds = USUAL_WAIT } = values
  if (name === undefined && as === undefined) return undefined
  if (name === undefined || as === undefined)
    throw new UsageError("A team needs both names: --team NAME and --as MEMBER.")
  if (values["no-agents"]) throw new UsageError("--no-agents works alone, and --team with others. Use one of them.")
  for (const one of [name, as])
    if (!isSafeId(one)) throw new UsageError(`"${one}" cannot be a name here. Use letters, digits, "-" and "_".`)
  return { place: { name, as }, waitMs: 1_000 * seconds }
}

export interface Waiting extends TeamWork {
  readonly agent: SessionAgent
  readonly signal: AbortSignal
}

/** Whether a message came. It waits for others to join, then until they have left the team or wait too. */
export async function messageCame({ agent, place, waitMs, signal }: Waiting): Promise<boolean> {
  const { team, conversation } = agent
  const mailbox = conversation.teamMailbox(place.name)
  if (!team || !mailbox) return false
  const { mail } = team
  const either = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
  let [hadOthers, quietLooks] = [false, 0]
  try {
    // two looks, so that others see it before it leaves: they would wait for someone to join
    while (!either.aborted && !mail.hasAny && quietLooks < 2) {
      hadOthers ||= (await mailbox.members()).some(({ name }) => name !== place.as)
      if (hadOthers && !(await mail.whenAny(either))) quietLooks += 1
      if (!mail.hasAny) await mail.nextChange(AbortSignal.any([either, AbortSignal.timeout(LOOK_MS)]))
    }
    return !signal.aborted && mail.hasAny
  } finally {
    await mailbox.close()
  }
}

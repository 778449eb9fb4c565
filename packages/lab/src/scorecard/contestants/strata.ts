/** Strata, as a program that knows nothing about it calls it. */
import { type Carried, carry } from "@strata/core"
import { type Contestant, listRun } from "../run.ts"
import type { PlainMessage } from "../session.ts"

/** Handles lead to messages that left the view. */
export const HANDLES = /^[0-9a-f]{10}(?:\.\d+)?$/

export const CARRY: Contestant = {
  ...{ name: "Strata carry", call: "carry(messages, { budget })", takesBudget: true, hasStandIn: false, own: HANDLES },
  start: async ({ budget }) => listRun(async (messages) => viewOf(await carry([...messages], { budget }))),
}

const viewOf = ({ messages }: Carried<PlainMessage>): readonly PlainMessage[] =>
  messages.map(({ role, content }) => ({ role, content }) as PlainMessage)

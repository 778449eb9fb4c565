/** The SendMessage tool of one agent. */
import { z } from "zod/v4"
import { promptText } from "../base/prompt-file.ts"
import type { Tool } from "../tools/tool.ts"
import type { Mail } from "./mail.ts"
import { MESSAGE_KINDS } from "./messages.ts"

export const SEND_MESSAGE = "SendMessage"

const DESCRIPTION = promptText(new URL("./send-message.md", import.meta.url)).trim()

// the kind is a plain text here, so that an unknown one is refused with the list of those that exist
const inputSchema = z.object({
  to: z.string().min(1).describe('The receiver: a name, "*", "bridge:<conversation id>" or "uds:<path>".'),
  message: z
    .union([
      z.string(),
      z.looseObject({
        kind: z.string().describe(`One of ${MESSAGE_KINDS.join(", ")}.`),
        request: z.string().optional().describe("The id of the request that this answers."),
        approve: z.boolean().optional(),
        reason: z.string().optional(),
        plan: z.string().optional().describe("For plan_approval_request: the whole plan."),
      }),
    ])
    .describe("A text, or a structured message."),
  summary: z.string().optional().describe("5 to 10 words for the person who watches."),
})
type SendMessageInput = z.infer<typeof inputSchema>

export interface SendMessageParts {
  /** The agent that has the tool. */
  readonly from: string
  readonly mail: Pick<Mail, "send">
}

export function sendMessageTool({ from, mail }: SendMessageParts): Tool<SendMessageInput> {
  return {
    name: SEND_MESSAGE,
    description: DESCRIPTION,
    inputSchema,
    limitsItself: true,
    readOnly: true, // it changes no file, and an agent that plans may ask
    needsApproval: false,
    question: ({ to, summary }) => ({
      kind: "other",
      summary: `send a message to ${to}${summary ? `: ${summary}` : ""}`,
    }),
    async execute({ to, message, summary }, { toolUseId }) {
      const about = summary === undefined ? {} : { summary }
      const sent = await mail.send({ from, to, message, ...about, newRequest: toolUseId })
      if (sent.state === "refused") return { content: `Not sent. ${sent.why}`, isError: true }
      const receivers = sent.to.join(", ")
      const asked = sent.request === undefined ? "" : ` The request has the id ${sent.request}.`
      return { content: `${sent.isQueued ? queuedFor(receivers) : `Sent to ${receivers}.`}${asked}` }
    },
  }
}

/** The other conversation may end before its next round, so an answer is the only proof that it was read. */
const queuedFor = (to: string) =>
  `Queued for ${to}. That conversation reads it at its next round; if it is closed before, the message is lost.`

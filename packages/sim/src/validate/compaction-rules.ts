/** Rules about compaction blocks and requests for one. Each has an error code. */

import { BETA } from "../api-dialect.ts"
import { readCompactionSignature } from "../context-management/compaction.ts"
import { type PlacedBlock, pathOf } from "../conversation.ts"
import { digest } from "../signature.ts"
import type { ParsedRequest, Rule } from "./rule.ts"

const compactionBlocks = ({ turns }: ParsedRequest): readonly PlacedBlock[] =>
  turns.flatMap(({ blocks }) => blocks).filter(({ block }) => block.type === "compaction")

/** Only blocks written on demand are signed and bound to their position. */
const signedBlocks = (request: ParsedRequest) =>
  compactionBlocks(request).filter(({ block }) => typeof block.signature === "string")

export const COMPACTION_RULES: readonly Rule[] = [
  {
    name: "one signed compaction block",
    refuses: (request) =>
      signedBlocks(request).length > 1
        ? {
            message: "messages: more than one `compaction` block was found. Send only the newest one.",
            code: "compaction_block_ambiguous",
          }
        : undefined,
  },
  {
    name: "a signed compaction block comes first",
    refuses: (request) => {
      const stray = signedBlocks(request).find(({ message, position }) => message > 0 || position > 0)
      return (
        stray && {
          message: `${pathOf(stray)}: a \`compaction\` block must be the first block of the first message. Remove the messages it summarizes.`,
          code: "compaction_block_misplaced",
        }
      )
    },
  },
  {
    name: "a compaction block carries the signature it was given",
    refuses: (request) => {
      const { betas } = request.dialect
      const mustBeSigned = betas.has(BETA.compactOnDemand) && !betas.has(BETA.compactAtThreshold)
      const forged = compactionBlocks(request).find(({ block }) =>
        typeof block.signature === "string" ? !readCompactionSignature(block.signature) : mustBeSigned,
      )
      return (
        forged && {
          message: `${pathOf(forged)}: Invalid \`signature\` in \`compaction\` block`,
          code: "compaction_signature_invalid",
        }
      )
    },
  },
  {
    name: "a signed compaction block is unchanged",
    refuses: (request) => {
      const changed = signedBlocks(request).find(
        ({ block }) => readCompactionSignature(block.signature)?.digest !== digest(`${block.content ?? ""}`),
      )
      return (
        changed && {
          message: `${pathOf(changed)}: the \`content\` of the \`compaction\` block does not match its \`signature\``,
          code: "compaction_content_mismatch",
        }
      )
    },
  },
  {
    name: "no compaction in the middle of a turn",
    refuses: ({ body, endpoint, turns }) => {
      const last = turns.at(-1)
      const open = last?.role === "assistant" && last.blocks.some(({ block }) => block.type === "tool_use")
      return body.compaction && endpoint === "messages" && open
        ? {
            message:
              "compaction: the last assistant turn has tool calls without results. Answer them before compacting.",
            code: "compaction_incomplete_turn",
          }
        : undefined
    },
  },
  {
    name: "there is something to summarize",
    refuses: ({ body, endpoint, turns }) => {
      const more = turns.flatMap(({ blocks }) => blocks).some(({ block }) => block.type !== "compaction")
      return body.compaction && endpoint === "messages" && !more
        ? {
            message: "compaction: there are no messages to summarize after the `compaction` block.",
            code: "compaction_nothing_to_summarize",
          }
        : undefined
    },
  },
]

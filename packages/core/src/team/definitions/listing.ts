/** The list of agents that a model can choose from. Descriptions are data: none can end its line or open and close a tag. */
import { cut } from "../../memory/topic-file.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { inline } from "../../messages/blocks.ts"
import type { AgentDefinition } from "./definition.ts"

const MAX_CHARACTERS = 500 // of one description
const MAX_IN_TOTAL = 16_000 // characters of all descriptions, about 4,000 tokens; the rest is listed by name

type Listed = Pick<AgentDefinition, "name" | "description">

/** Nothing if there are no agents. The same definitions give the same bytes. */
export function agentListing(definitions: readonly Listed[]): Attachment | undefined {
  if (definitions.length === 0) return undefined
  let left = MAX_IN_TOTAL
  const agents = definitions.map(({ name, description }) => {
    const shown = inline(cut(description.replace(/\s+/g, " ").trim(), MAX_CHARACTERS))
    if (shown.length > left) return { name }
    left -= shown.length
    return { name, description: shown }
  })
  return { type: "agent_listing", agents }
}

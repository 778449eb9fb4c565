/** Lists agents for a model to choose from. Descriptions are data: none can end its line, or open or close a tag. */
import { cut } from "../../memory/topic-file.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { inline } from "../../messages/blocks.ts"
import type { AgentDefinition } from "./definition.ts"

const MAX_CHARACTERS = 500 // per description
const MAX_IN_TOTAL = 16_000 // characters of all descriptions, about 4,000 tokens; the rest is listed by name

type ListedAgent = Pick<AgentDefinition, "name" | "description">

/** `undefined` without definitions. Equal definitions give equal bytes. */
export function agentListing(definitions: readonly ListedAgent[]): Attachment | undefined {
  if (definitions.length === 0) return undefined
  let remaining = MAX_IN_TOTAL
  const agents = definitions.map(({ name, description }) => {
    const line = inline(cut(description.replace(/\s+/g, " ").trim(), MAX_CHARACTERS))
    if (line.length > remaining) return { name }
    remaining -= line.length
    return { name, description: line }
  })
  return { type: "agent_listing", agents }
}

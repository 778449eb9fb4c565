/** Titles of conversations, and lookup by id. */
import { UsageError } from "./command.ts"
import { firstLine } from "./display/text.ts"

const TITLE_COLUMNS = 60

/** A conversation is named after its first message until it gets a title. */
export const titleFrom = (message: string): string => firstLine(message, TITLE_COLUMNS)

/** Finds a conversation by its id or a unique prefix. */
export function findById<Listing extends { readonly id: string }>(
  id: string,
  conversations: readonly Listing[],
): Listing | undefined {
  const fitting = conversations.filter((conversation) => conversation.id.startsWith(id))
  const exact = fitting.find((conversation) => conversation.id === id)
  if (!exact && fitting.length > 1)
    throw new UsageError(`${fitting.length} conversations start with ${id}. Type more of the id.`)
  return exact ?? fitting[0]
}

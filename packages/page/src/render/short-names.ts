/** Removes the common directory from the names of conversations. */
import type { PageConversation } from "./content.ts"

export function withShortNames(all: readonly PageConversation[]): readonly PageConversation[] {
  const [first, ...others] = all.map(({ name }) => name).filter((name) => name.includes("/"))
  if (first === undefined || others.length === 0) return all
  let common = first.slice(0, first.lastIndexOf("/") + 1)
  while (common !== "" && !others.every((name) => name.startsWith(common)))
    common = common.slice(0, common.lastIndexOf("/", common.length - 2) + 1)
  return all.map((conversation) => {
    const { name } = conversation
    return { ...conversation, name: name.startsWith(common) ? name.slice(common.length) : name }
  })
}

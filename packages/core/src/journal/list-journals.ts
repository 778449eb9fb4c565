/** Lists the conversations of several namespaces of a store. */
import type { ConversationListing, Store } from "./store.ts"

/** A listing with the namespace that contains it. */
export type NamespacedListing = ConversationListing & { readonly namespace: string }

/** Sorted newest first. If two namespaces have the same id, the first namespace wins. */
export async function listJournalsIn(
  store: Store,
  namespaces: readonly string[],
): Promise<readonly NamespacedListing[]> {
  const all = await Promise.all(
    namespaces.map(async (namespace) => (await store.list(namespace)).map((listing) => ({ ...listing, namespace }))),
  )
  const first = new Map(
    all
      .flat()
      .toReversed()
      .map((listing) => [listing.id, listing]),
  )
  return [...first.values()].sort((a, b) => b.touched.localeCompare(a.touched))
}

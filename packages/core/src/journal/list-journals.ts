/** The conversations in several places of a store. */
import type { ConversationListing, Store } from "./store.ts"

/** `place`: where the store keeps it. */
export type NamespacedListing = ConversationListing & { readonly namespace: string }

/** Newest first. Where two have the same id, the one of the first place. */
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

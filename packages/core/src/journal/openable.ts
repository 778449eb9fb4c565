/** The conversations that can be opened without an owner. */
import { placeFor } from "../base/owner.ts"
import type { ConversationListing, Store } from "./store.ts"

/** `place`: where the store keeps it. */
export type OpenableListing = ConversationListing & { readonly place: string }

/** Newest first: what the local person has in a project, and what no one owns. */
export async function listOpenable(store: Store, project: string): Promise<readonly OpenableListing[]> {
  const places = [project, placeFor(project, undefined)]
  const all = await Promise.all(
    places.map(async (place) => (await store.list(place)).map((listing) => ({ ...listing, place }))),
  )
  // opening takes the local person's first
  const first = new Map(
    all
      .flat()
      .toReversed()
      .map((listing) => [listing.id, listing]),
  )
  return [...first.values()].sort((a, b) => b.touched.localeCompare(a.touched))
}

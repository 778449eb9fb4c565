/** The conversations in several places of a store, and those that can be opened without an owner. */
import { placeFor } from "../base/owner.ts"
import type { ConversationListing, Store } from "./store.ts"

/** `place`: where the store keeps it. */
export type PlacedListing = ConversationListing & { readonly place: string }

/** Newest first: what the local person has in a project, and what no one owns. */
export const listOpenable = (store: Store, project: string): Promise<readonly PlacedListing[]> =>
  listPlaces(store, [project, placeFor(project, undefined)]) // opening takes the local person's first

/** Newest first. Where two have the same id, the one of the first place. */
export async function listPlaces(store: Store, places: readonly string[]): Promise<readonly PlacedListing[]> {
  const all = await Promise.all(
    places.map(async (place) => (await store.list(place)).map((listing) => ({ ...listing, place }))),
  )
  const first = new Map(
    all
      .flat()
      .toReversed()
      .map((listing) => [listing.id, listing]),
  )
  return [...first.values()].sort((a, b) => b.touched.localeCompare(a.touched))
}

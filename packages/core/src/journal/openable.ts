/** The conversations in several places of a store. */
import type { ConversationListing, Store } from "./store.ts"

/** `place`: where the store keeps it. */
export type PlacedListing = ConversationListing & { readonly place: string }

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

/** Sends everything, always. Requests that no longer fit the window are counted as invalid and priced all the same. */
import { layered } from "./layered.ts"
import { storage, UNLIMITED } from "./storage.ts"

export const none = layered({
  name: "none",
  about:
    "Every request sends the complete conversation. Requests beyond the window are invalid and priced all the same.",
  layers: () => [storage()],
  figures: UNLIMITED,
})

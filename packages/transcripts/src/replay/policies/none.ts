/** Sends everything, always. What no longer fits the window is counted as invalid and priced all the same. */
import { layered } from "./layered.ts"
import { storage, UNLIMITED } from "./storage.ts"

export const none = layered({
  name: "none",
  about: "Every request sends the whole conversation. Requests beyond the window are invalid and priced all the same.",
  layers: () => [storage()],
  figures: UNLIMITED,
})

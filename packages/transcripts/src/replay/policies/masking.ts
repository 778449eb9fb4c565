import { butNewest, clearing } from "./clearing.ts"
import { layered } from "./layered.ts"
import { storage, UNLIMITED } from "./storage.ts"

const KEPT = 10

export const masked = () => clearing({ name: "masking", choose: (results) => butNewest(results, KEPT) })

export const masking = layered({
  name: "masking",
  about: "Every request shows only the 10 newest tool results. There are no summaries.",
  layers: () => [storage(), masked()],
  figures: UNLIMITED,
})

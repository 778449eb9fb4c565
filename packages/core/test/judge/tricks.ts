/**
 * Parts of a line on which shells, versions or careless parsers disagree: what is code, or what a program does. In pieces.txt `%P` is a
 * harmful command, `%F` a file.
 */
import { pieces } from "./fragments.ts"
import type { Random } from "./random.ts"

/** Commands that leave a trace if they run. */
export const PAYLOADS = pieces("payloads")
const FILES = pieces("written files")
const TRICKS = pieces("tricks")

export function trick(random: Random): string {
  return random
    .pick(TRICKS)
    .replaceAll("%P", () => random.pick(PAYLOADS))
    .replaceAll("%F", () => random.pick(FILES))
}

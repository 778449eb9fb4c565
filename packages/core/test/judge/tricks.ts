/**
 * Places in a line where shells, versions or careless readers disagree about what is code, or about what a program does. In pieces.txt
 * `%P` is a command that does harm, `%F` a file.
 */
import { pieces } from "./pieces.ts"
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

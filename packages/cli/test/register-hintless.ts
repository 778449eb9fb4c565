/** Loaded before the program in processes of tests: `node --import`. */
import { registerHintless } from "./hintless-store.ts"

registerHintless()

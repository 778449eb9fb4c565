/** `strata uninstall`. */
export { uninstall as run } from "./command.ts"

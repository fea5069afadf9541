/* The protocol client validates with zod, which tries `new Function` once to see whether it may
 * compile. Under this page's Content-Security-Policy it may not; saying so beforehand keeps the
 * console free of a violation. Imported before anything else. */
import { config } from 'zod/v4/core';

config({ jitless: true });

/* Stands in for `@ag-ui/proto` in the page's bundle. The page asks for server-sent events and never for
 * protobuf, so the codec would be a quarter of what browsers load, for nothing. */

export const AGUI_MEDIA_TYPE = 'application/vnd.ag-ui.event+proto';

export class AGUIUnknownEventTypeError extends Error {}

export function decode(): never {
  throw new Error('the server answered with protobuf, which this page did not ask for');
}

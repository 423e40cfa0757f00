import { isIPv4, isIPv6 } from 'node:net';
import { parseDuration } from './duration.ts';
import { parseRequestUri } from './request-uri.ts';

/**
 * Whether text has one of the formats that kube-apiserver checks; undefined for every other name, which is then only
 * documentation. Names count without their dashes.
 */
export function formatCheck(format: string): ((text: string) => boolean) | undefined {
  return CHECKS.get(format.replaceAll('-', ''));
}

const CHECKS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', (text) => /^[0-9a-f]{24}$/i.test(text)],
  ['uri', (text) => parseRequestUri(text) !== undefined],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', (text) => isSloppyIpv4(text) || (isPlainIpv6(text) && text.includes('.'))],
  ['ipv6', isPlainIpv6],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', (text) => UUID.test(text)],
  ['uuid3', (text) => UUID.test(text) && bareUuid(text).charAt(12) === '3'],
  ['uuid4', (text) => UUID.test(text) && /^.{12}4...[89ab]/i.test(bareUuid(text))],
  ['uuid5', (text) => UUID.test(text) && /^.{12}5...[89ab]/i.test(bareUuid(text))],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^\d{3}[- ]?\d\d[- ]?\d{4}$/.test(text)],
  ['hexcolor', (text) => /^#?(?:[0-9a-f]{3}){1,2}$/i.test(text)],
  ['rgbcolor', isRgbColor],
  ['byte', (text) => text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)],
  ['password', () => true],
  ['date', isDate],
  ['duration', (text) => parseDuration(text) !== undefined],
  ['datetime', isDateTime],
]);

const UUID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;
const bareUuid = (text: string): string => text.replaceAll('-', '');

/** Leading zeros are tolerated here, unlike everywhere else: stored objects may have them. */
const isSloppyIpv4 = (text: string): boolean =>
  isIPv4(text) || (/^\d{1,20}(?:\.\d{1,20}){3}$/.test(text) && text.split('.').every((octet) => Number(octet) < 256));
function isPlainIpv6(text: string): boolean {
  return !text.includes('%') && isIPv6(text);
}

function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  const length = text.slice(slash + 1);
  if (slash < 0 || !/^\d{1,3}$/.test(length)) return false;
  const address = text.slice(0, slash);
  return isSloppyIpv4(address) ? Number(length) <= 32 : isPlainIpv6(address) && Number(length) <= 128;
}

function isMac(text: string): boolean {
  const octets = /^[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1)*[0-9a-f]{2}$/i.test(text) ? (text.length + 1) / 3 : 0;
  const groups = /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i.test(text) ? (text.length + 1) / 5 : 0;
  return [6, 8, 20].includes(octets) || [3, 4, 10].includes(groups);
}

function isEmail(text: string): boolean {
  const bracketed = /^[^<>]*<([^<>]*)>$/.exec(text)?.[1];
  const address = (bracketed ?? text).trim();
  const at = address.lastIndexOf('@');
  return EMAIL_LOCAL.test(address.slice(0, Math.max(at, 0))) && EMAIL_DOMAIN.test(address.slice(at + 1));
}
const ATOM = '[^\\s()<>\\[\\]:;@\\\\,."\\u0000-\\u001f]+';
const EMAIL_LOCAL = new RegExp(`^(?:${ATOM}(?:\\.${ATOM})*|"(?:[^"\\\\]|\\\\.)*")$`);
const EMAIL_DOMAIN = new RegExp(`^(?:${ATOM}(?:\\.${ATOM})*|\\[[^\\[\\]\\\\\\s]*\\])$`);

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  return text.split('.').every((label) => Buffer.byteLength(label) < 64) && HOSTNAME.test(text);
}
/** One label with a dash at most in second place, or several of which the last is letters. */
const HOSTNAME =
  /^(?:[a-z0-9\p{S}\p{L}](?:-?[a-z0-9\p{S}\p{L}]{0,62})?|(?:[a-z0-9\p{S}\p{L}](?:[a-z0-9\p{S}\p{L}-]{0,61}[a-z0-9\p{S}\p{L}])?\.)+\p{L}{2,63})$/iu;

export function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && isOnCalendar(text);
}

/** What follows another `t` is not looked at, nor what separates a fraction. */
export function isDateTime(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(?:(?!t).\d+)?(?:z|[+-]\d\d:\d\d)(?:t[\s\S]*)?$/i.test(text) &&
    text.slice(11, 13) <= '23' &&
    text.slice(14, 16) <= '59' &&
    text.slice(17, 19) <= '59' &&
    isOnCalendar(text)
  );
}

function isOnCalendar(date: string): boolean {
  const year = Number(date.slice(0, 4));
  const month = Number(date.slice(5, 7));
  const day = Number(date.slice(8, 10));
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeapYear ? 29 : (DAYS[month - 1] ?? 0);
  return day >= 1 && day <= days;
}
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isIsbn10(text: string): boolean {
  const bare = text.replace(/[\s-]/g, '');
  if (!/^\d{9}[\dX]$/.test(bare)) return false;
  return [...bare].reduce((sum, digit, i) => sum + (i + 1) * (digit === 'X' ? 10 : Number(digit)), 0) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const bare = text.replace(/[\s-]/g, '');
  return (
    /^\d{13}$/.test(bare) &&
    [...bare].reduce((sum, digit, i) => sum + Number(digit) * (i % 2 === 0 ? 1 : 3), 0) % 10 === 0
  );
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  if (!CARD_ISSUERS.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, i) => {
    const value = Number(digit) * (i % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
const CARD_ISSUERS =
  /^(?:4(?:\d{12}|\d{15})|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

function isRgbColor(text: string): boolean {
  const parts = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text)?.slice(1);
  return parts?.every((part) => /^(?:0|[1-9]\d*)$/.test(part) && Number(part) < 256) ?? false;
}

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeHello, type Hello } from './codec.ts';
import { type Direction, Session } from './session.ts';
import { Simulation } from './testing/simulation.ts';

const original: Hello = { keepaliveSeconds: 5, isServer: false, readsAnySplit: false };
const netloom: Hello = { ...original, readsAnySplit: true };

/** A session whose every move is written down. */
function begin(direction: Direction, { keepaliveSeconds = 5, isServer = false } = {}) {
  const time = new Simulation();
  const moves: string[] = [];
  const session: Session = new Session({
    direction,
    keepaliveSeconds,
    isServer,
    surroundings: time,
    events: {
      sendHello(frame) {
        const hello = decodeHello(frame, 4, frame.length);
        moves.push(`HELLO ${hello?.keepaliveSeconds}${hello?.isServer === true ? ' server' : ''}`);
      },
      sendKeepalive: () => moves.push('KEEPALIVE'),
      established: () => moves.push(session.state),
      answered: () => moves.push('answered'),
      failed: (reason) => moves.push(`failed: ${reason}`),
    },
  });
  session.start();
  return { session, time, moves, take: () => moves.splice(0) };
}

function established(direction: Direction, hello: Hello) {
  const run = begin(direction);
  run.session.receiveHello(hello);
  run.session.receiveKeepalive();
  run.take();
  return run;
}

describe('whoever dialled', () => {
  test('greets at once, and sends a KEEPALIVE as soon as it is greeted', () => {
    const { session, take } = begin('outgoing');
    assert.deepEqual([session.state, take()], ['HELLO_SENT', ['HELLO 5']]);
    session.receiveHello({ ...original, isServer: true });
    assert.deepEqual([session.state, take()], ['HELLO_RECEIVED', ['KEEPALIVE']]);
    session.receiveKeepalive();
    assert.deepEqual(take(), ['ESTABLISHED', 'answered']);
  });

  test('sends a KEEPALIVE in every interval, and does not answer those of the server', () => {
    const { session, time, take } = established('outgoing', original);
    time.pass(4999);
    assert.deepEqual(take(), []);
    session.receiveKeepalive();
    assert.deepEqual(take(), ['answered']);
    time.pass(5001);
    assert.deepEqual(take(), ['KEEPALIVE', 'KEEPALIVE']);
  });

  test('can ask for an answer at any time', () => {
    const { session, take } = established('outgoing', original);
    session.probe();
    assert.deepEqual(take(), ['KEEPALIVE']);
  });
});

describe('whoever was dialled', () => {
  test('says nothing before it is greeted, and is established by the first KEEPALIVE, which it answers', () => {
    const { session, take } = begin('incoming', { isServer: true });
    assert.deepEqual([session.state, take()], ['CONNECTING', []]);
    session.receiveHello(original);
    assert.deepEqual([session.state, take()], ['HELLO_SENT', ['HELLO 5 server']]);
    session.receiveKeepalive();
    assert.deepEqual(take(), ['ESTABLISHED', 'KEEPALIVE']);
  });

  test('answers every KEEPALIVE and sends none itself', () => {
    const { session, time, take } = established('incoming', original);
    session.receiveKeepalive();
    session.receiveKeepalive();
    assert.deepEqual(take(), ['KEEPALIVE', 'KEEPALIVE']);
    time.pass(12_000);
    assert.deepEqual(take(), []);
  });
});

describe('the interval', () => {
  test('is the shorter one of both, and is announced as such', () => {
    const { session, take } = begin('incoming', { keepaliveSeconds: 10 });
    session.receiveHello({ ...original, keepaliveSeconds: 3 });
    assert.deepEqual([session.keepaliveSeconds, take()], [3, ['HELLO 3']]);
  });

  test('of 0 seconds ends the session', () => {
    const { session, take } = begin('incoming');
    session.receiveHello({ ...original, keepaliveSeconds: 0 });
    assert.deepEqual(take(), ['failed: HELLO with a keepalive interval of 0 seconds']);
    assert.equal(session.state, 'CLOSED');
  });
});

describe('silence', () => {
  test('before the greeting ends the session after two and a half of the own intervals', () => {
    const { time, take } = begin('incoming');
    time.pass(12_499);
    assert.deepEqual(take(), []);
    time.pass(1);
    assert.deepEqual(take(), ['failed: nothing was heard for 12.5 seconds']);
  });

  test('after it ends the session after two and a half of the agreed intervals', () => {
    const { session, time, take } = begin('incoming');
    session.receiveHello({ ...original, keepaliveSeconds: 2 });
    session.receiveKeepalive();
    take();
    time.pass(3000);
    session.receiveKeepalive();
    take();
    time.pass(4999);
    assert.deepEqual(take(), []);
    time.pass(1);
    assert.deepEqual(take(), ['failed: nothing was heard for 5 seconds']);
  });

  test('is not broken by the routes of a metalbond', () => {
    const { session, time, take } = established('incoming', original);
    for (let i = 0; i < 12; i += 1) {
      time.pass(1000);
      session.receiveOther();
      session.receiveBytes();
    }
    time.pass(500);
    assert.deepEqual(take(), ['failed: nothing was heard for 12.5 seconds']);
  });

  test('is broken by everything that a Netloom sends', () => {
    const { session, time, take } = established('incoming', netloom);
    for (let i = 0; i < 30; i += 1) {
      time.pass(1000);
      session.receiveBytes();
    }
    assert.deepEqual(take(), []);
  });
});

describe('what comes at the wrong moment ends the session', () => {
  test('a KEEPALIVE before HELLO', () => {
    const { session, take } = begin('incoming');
    session.receiveKeepalive();
    assert.deepEqual(take(), ['failed: KEEPALIVE in state CONNECTING']);
  });

  test('a KEEPALIVE before the server has greeted', () => {
    const { session, take } = begin('outgoing');
    take();
    session.receiveKeepalive();
    assert.deepEqual(take(), ['failed: KEEPALIVE in state HELLO_SENT']);
  });

  test('a second HELLO', () => {
    const { session, take } = established('incoming', original);
    session.receiveHello(original);
    assert.deepEqual(take(), ['failed: HELLO in state ESTABLISHED']);
  });

  test('routes and subscriptions before HELLO, but not between HELLO and KEEPALIVE', () => {
    const early = begin('incoming');
    assert.equal(early.session.receiveOther(), false);
    assert.deepEqual(early.take(), ['failed: a message before HELLO, in state CONNECTING']);
    const later = begin('incoming');
    later.session.receiveHello(original);
    assert.equal(later.session.receiveOther(), true);
  });
});

test('a session that has ended leaves no timer behind', () => {
  const { session, time, take } = established('outgoing', original);
  session.end();
  assert.equal(time.planned, 0);
  time.pass(60_000);
  assert.deepEqual([session.state, take()], ['CLOSED', []]);
});

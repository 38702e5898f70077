// Writes streams.json: compressed streams and their contents, by meshoptimizer 1.3 from npm.
//
//     npm install meshoptimizer@1.3 && node streams.mjs > streams.json

import { MeshoptDecoder, MeshoptEncoder } from 'meshoptimizer';

await Promise.all([MeshoptDecoder.ready, MeshoptEncoder.ready]);

let state = 1;
const random = () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 16;
const base64 = (bytes) => Buffer.from(bytes).toString('base64');
const streams = [];

function add(mode, filter, version, count, stride, stream) {
	const decoded = new Uint8Array(count * stride);
	MeshoptDecoder.decodeGltfBuffer(decoded, count, stride, stream, mode, filter);
	streams.push({ mode, filter, version, count, stride, stream: base64(stream), decoded: base64(decoded) });
}

// Bytes that differ much, little and not at all; halves; and floats.
const kinds = {
	noise: (at) => random(),
	bytes: (at, stride) => (at % stride) * 7 + Math.floor(at / stride) * (at % 3) + (random() % 40 ? 0 : 90),
	zeros: () => 0,
};
for (const version of [0, 1]) {
	for (const [kind, count, stride] of [
		['noise', 1, 4], ['noise', 17, 8], ['bytes', 16, 12], ['bytes', 61, 4], ['bytes', 300, 4],
		['bytes', 17, 256], ['zeros', 257, 4], ['bytes', 65, 128],
	]) {
		const data = Uint8Array.from({ length: count * stride }, (_, at) => kinds[kind](at, stride));
		const stream = MeshoptEncoder.encodeVertexBufferLevel(data, count, stride, 2, version);
		add('ATTRIBUTES', 'NONE', version, count, stride, stream);
	}
	const halves = Uint16Array.from({ length: 200 }, (_, at) => 300 * Math.sin(at / 9) + 1e4 * (at % 4));
	const floats = Float32Array.from({ length: 93 }, (_, at) => Math.cos(at / 20) * (1 + (at % 3)));
	for (const level of [0, 3]) {
		for (const [array, stride] of [[halves, 8], [floats, 12]]) {
			const data = new Uint8Array(array.buffer);
			const count = data.length / stride;
			const stream = MeshoptEncoder.encodeVertexBufferLevel(data, count, stride, level, version);
			add('ATTRIBUTES', 'NONE', version, count, stride, stream);
		}
	}
	const units = Float32Array.from({ length: 160 }, () => random() / 32768 - 1);
	for (let at = 0; at < 160; at += 4) {
		const length = Math.hypot(...units.slice(at, at + 4));
		for (let axis = 0; axis < 4; axis++) units[at + axis] /= length;
	}
	for (const [filter, encode, stride, bits] of [
		['OCTAHEDRAL', MeshoptEncoder.encodeFilterOct, 4, 8],
		['OCTAHEDRAL', MeshoptEncoder.encodeFilterOct, 8, 12],
		['QUATERNION', MeshoptEncoder.encodeFilterQuat, 8, 12],
		['QUATERNION', MeshoptEncoder.encodeFilterQuat, 8, 16],
		['EXPONENTIAL', MeshoptEncoder.encodeFilterExp, 16, 15],
		['EXPONENTIAL', MeshoptEncoder.encodeFilterExp, 16, 24],
	]) {
		const data = encode(units, 40, stride, bits);
		const stream = MeshoptEncoder.encodeVertexBufferLevel(data, 40, stride, 2, version);
		add('ATTRIBUTES', filter, version, 40, stride, stream);
	}
}
for (const stride of [2, 4]) {
	const indices = Uint32Array.from({ length: 40 }, (_, at) => (at % 7 ? 3 * at : stride === 4 ? 4e9 + at : 6e4));
	const stream = MeshoptEncoder.encodeIndexSequence(new Uint8Array(indices.buffer), 40, 4);
	add('INDICES', 'NONE', 1, 40, stride, stream);
}
console.log('[\n' + streams.map((stream) => JSON.stringify(stream)).join(',\n') + '\n]');

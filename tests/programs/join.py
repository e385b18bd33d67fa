"""Python's bytes.join: 64 Ki pieces of 20 sizes from 3 to 512 bytes, in an order that no predictor keeps."""
import random

random.seed(1)
SIZES = [3, 5, 8, 8, 12, 16, 16, 20, 24, 32, 40, 48, 64, 80, 100, 128, 200, 256, 400, 512]
parts = [bytes([i % 256]) * random.choice(SIZES) for i in range(65536)]
print(sum(len(b"".join(parts)) for _ in range(150)))
